// Keeps one browser running: starts the next when the current one is due, and at once when it dies
// or no longer answers. Every browser that was started is remembered until it is gone, so that
// closing leaves none behind.
import { setTimeout as wait } from 'node:timers/promises';
import type { Launcher } from '../browser/create-launcher.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { Log, PoolOptions } from '../options.ts';
import { createGeneration, type Generation, type ReplaceReason } from './generation.ts';

export interface KeeperEvents {
  readonly log: Log;
  readonly onReady: () => void;
  readonly onStartFailed: () => void;
}

/** Nobody's plan. */
const TROUBLE: ReadonlySet<ReplaceReason> = new Set(['canary', 'crash', 'hang']);
const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 5_000;

export class BrowserKeeper {
  readonly #launcher: Launcher;
  readonly #options: PoolOptions;
  readonly #events: KeeperEvents;
  readonly #replaced = { count: 0, age: 0, memory: 0, canary: 0, crash: 0, hang: 0 };
  readonly #living = new Set<Generation>();
  #current: Generation | null = null;
  #starting: Promise<void> | null = null;
  #isChecking = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(launcher: Launcher, options: PoolOptions, events: KeeperEvents) {
    this.#launcher = launcher;
    this.#options = options;
    this.#events = events;
  }

  /** The browser for the next page; null while none runs. */
  get current(): Generation | null {
    return this.#current;
  }

  /** Whether none runs and the last start failed. */
  get isFailing(): boolean {
    return this.#current === null && this.#failures > 0;
  }

  get replaced(): Readonly<Record<ReplaceReason, number>> {
    return this.#replaced;
  }

  /** Starts the first browser; throws when that is impossible. */
  async open(): Promise<void> {
    this.#current = await this.#launch();
    this.#heartbeat = setInterval(() => {
      if (this.#isChecking) return;
      this.#isChecking = true;
      void this.#check().finally(() => {
        this.#isChecking = false;
      });
    }, RENDER_LIMITS.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Starts a successor, which then retires this one. */
  replace(generation: Generation, reason: ReplaceReason): void {
    if (generation !== this.#current || this.#starting !== null) return;
    this.#note(reason);
    this.#start();
  }

  /** This one hangs or is dead: ends it and starts another at once. */
  async lose(generation: Generation): Promise<void> {
    const isDead = !generation.launched.browser.isConnected();
    this.#drop(generation, isDead ? 'crash' : 'hang');
    await generation.kill();
  }

  /** Ends every browser. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    this.#current = null;
    await Promise.all([...this.#living].map((generation) => generation.kill()));
    await this.#starting;
  }

  #note(reason: ReplaceReason): void {
    this.#replaced[reason] += 1;
    const level = TROUBLE.has(reason) ? 'warn' : 'info';
    this.#events.log(level, 'browser replaced', { reason });
  }

  async #launch(): Promise<Generation> {
    const launched = await this.#launcher.launch();
    const generation = await createGeneration(launched, this.#options);
    this.#living.add(generation);
    void launched.gone.then(() => {
      this.#living.delete(generation);
      if (!generation.isEnding() && !this.#isClosed) this.#drop(generation, 'crash');
    });
    return generation;
  }

  #drop(generation: Generation, reason: ReplaceReason): void {
    if (this.#current !== generation) return;
    this.#current = null;
    this.#note(reason);
    this.#start();
  }

  #start(): void {
    if (this.#starting !== null || this.#isClosed) return;
    this.#starting = this.#startNext().finally(() => {
      this.#starting = null;
    });
  }

  /** Tries until a browser runs; an old one that still runs stays in service meanwhile. */
  async #startNext(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const next = await this.#launch();
        this.#failures = 0;
        if (this.#isClosed) return await next.kill();
        this.#current?.retire();
        this.#current = next;
        return this.#events.onReady();
      } catch (error) {
        this.#failures += 1;
        const message = error instanceof Error ? error.message : String(error);
        this.#events.log('error', 'no browser could be started', { message });
        if (this.#current === null) this.#events.onStartFailed();
        await wait(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** this.#failures));
      }
    }
  }

  /** Age and memory are looked at here, and whether it still answers. */
  async #check(): Promise<void> {
    const generation = this.#current;
    if (generation === null) return;
    if (!(await generation.answers())) {
      if (!generation.isEnding()) await this.lose(generation);
      return;
    }
    const isHeavy = generation.launched.rssBytes() >= this.#options.browserRssBytes;
    const reason = isHeavy ? 'memory' : generation.due();
    if (reason !== null) this.replace(generation, reason);
  }
}

// The workers that serve: started together, replaced one by one, and when one ends by itself
// another takes its place, with growing pauses. Starting one and reloading all exclude each other,
// so that nobody begins with a configuration that the others have left behind.
import type { Log } from '../../adapters/telemetry/create-log.ts';
import type { Metrics } from '../../adapters/telemetry/create-metrics.ts';
import { addTotals, type MetricsSnapshot } from '../../adapters/telemetry/merge-snapshots.ts';
import type { WorkerExit } from '../../adapters/workers/fork-worker.ts';
import type { ConfigCopy } from '../../config/config-reader.ts';
import type { Settings } from '../../config/settings.ts';
import type { RestartResult } from '../serving.ts';
import { StartError } from '../start-error.ts';
import { STOP_IDLE_GRACE_MS } from '../stop.ts';
import { createPauses } from './pauses.ts';
import type { ReloadAnswer, WorkerMember } from './worker-member.ts';

/** What a worker is made of: the configuration in service, and what it may not change in it. */
export interface WorkerPlan {
  readonly copy: ConfigCopy;
  readonly atStart: Settings;
}

export interface PoolDeps {
  readonly count: number;
  readonly plan: WorkerPlan;
  readonly fork: (plan: WorkerPlan) => WorkerMember;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Reloaded {
  readonly member: WorkerMember;
  readonly answer: ReloadAnswer;
}

/** While others serve, a silent connection may wait for its client's next request. */
const RESTART_IDLE_GRACE_MS = 5_000;
const STOPPING = 'the gateway stops';

export class WorkerPool {
  readonly #deps: PoolDeps;
  readonly #starting = new Set<WorkerMember>();
  readonly #serving = new Set<WorkerMember>();
  readonly #leaving = new Set<WorkerMember>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #pauses = createPauses();
  #plan: WorkerPlan;
  #totals: MetricsSnapshot = [];
  #isStopping = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.#plan = deps.plan;
  }

  /** How many serve. */
  get size(): number {
    return this.#serving.size;
  }

  get plan(): WorkerPlan {
    return this.#plan;
  }

  /** Resolves when at least one serves; throws when none can. */
  async start(): Promise<void> {
    const { count } = this.#deps;
    const started = await Promise.all(Array.from({ length: count }, () => this.#spawn(this.#plan)));
    const reasons = started.filter((reason) => reason !== null);
    if (reasons.length === count) throw new StartError([...new Set(reasons)].join('; '));
    for (const reason of reasons) this.#tryAgain(reason);
  }

  /** Throws when no worker took it: they all go on with the old one. */
  async reload(copy: ConfigCopy): Promise<void> {
    await this.#exclusively(() => this.#reloadAll(copy));
  }

  /** Each new one serves before the one it replaces stops. */
  async replaceAll(atStart: Settings): Promise<RestartResult> {
    let replaced = 0;
    for (const old of [...this.#serving]) {
      // One that ended by itself has been replaced by itself.
      if (!this.#serving.has(old)) continue;
      const reason = await this.#replace(old, atStart);
      if (reason !== null) return { isDone: false, reason };
      replaced += 1;
    }
    return { isDone: true, replaced };
  }

  /** Lets the open requests of all end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const member of this.#starting) member.kill();
    const leaving = [...this.#leaving];
    await Promise.all([
      ...[...this.#serving].map((member) => this.#retire(member, STOP_IDLE_GRACE_MS)),
      ...leaving.map((member) => member.exited),
    ]);
  }

  /** What all of them counted, those that have ended included. */
  async snapshots(): Promise<readonly MetricsSnapshot[]> {
    const asked = [...this.#serving, ...this.#leaving];
    await Promise.all(asked.map((member) => member.refreshSnapshot()));
    // In one turn: who ends meanwhile moves from here to there.
    const living = [...this.#serving, ...this.#leaving].map((member) => member.snapshot());
    return [this.#totals, ...living];
  }

  async #exclusively<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(run);
    this.#queue = turn.catch(() => undefined);
    return await turn;
  }

  /** @returns why it does not serve, or null */
  async #spawn(plan: WorkerPlan): Promise<string | null> {
    if (this.#isStopping) return STOPPING;
    const member = this.#deps.fork(plan);
    this.#starting.add(member);
    const started = await member.started;
    this.#starting.delete(member);
    if (this.#isStopping || !started.isReady) {
      member.kill();
      return started.isReady ? STOPPING : started.message;
    }
    member.serve();
    this.#serving.add(member);
    this.#countServing();
    this.#log('info', { kind: 'worker_started', worker: member.id, pid: member.pid });
    void member.exited.then((exit) => this.#noteEnd(member, exit));
    return null;
  }

  #noteEnd(member: WorkerMember, exit: WorkerExit): void {
    this.#totals = addTotals(this.#totals, member.snapshot());
    this.#leaving.delete(member);
    if (!this.#serving.delete(member)) {
      this.#log('info', { kind: 'worker_stopped', worker: member.id });
      return;
    }
    this.#countServing();
    this.#deps.metrics.recordWorkerEnd('crashed');
    this.#log('error', { kind: 'worker_ended', worker: member.id, ...exit });
    this.#fillUpLater();
  }

  #tryAgain(reason: string): void {
    if (this.#isStopping) return;
    this.#log('error', { kind: 'worker_not_started', reason });
    this.#fillUpLater();
  }

  #fillUpLater(): void {
    if (this.#isStopping) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#exclusively(() => this.#fillUp());
    }, this.#pauses.next());
    this.#timers.add(timer);
  }

  async #fillUp(): Promise<void> {
    if (this.#serving.size >= this.#deps.count) return;
    const reason = await this.#spawn(this.#plan);
    if (reason !== null) this.#tryAgain(reason);
  }

  async #replace(old: WorkerMember, atStart: Settings): Promise<string | null> {
    const reason = await this.#exclusively(() => this.#spawn({ copy: this.#plan.copy, atStart }));
    if (reason !== null) return reason;
    this.#plan = { ...this.#plan, atStart };
    this.#deps.metrics.recordWorkerEnd('replaced');
    await this.#retire(old, RESTART_IDLE_GRACE_MS);
    return null;
  }

  async #retire(member: WorkerMember, idleGraceMs: number): Promise<void> {
    if (!this.#serving.delete(member)) return;
    this.#leaving.add(member);
    this.#countServing();
    await member.stop(idleGraceMs);
  }

  async #reloadAll(copy: ConfigCopy): Promise<void> {
    const reloaded = await Promise.all(
      [...this.#serving].map(async (member) => ({ member, answer: await member.reload(copy) })),
    );
    const failed = reloaded.filter(({ answer }) => answer.state !== 'applied');
    for (const { member, answer } of failed) {
      this.#log('error', { kind: 'worker_not_reloaded', worker: member.id, ...answer });
    }
    const isApplied = failed.length < reloaded.length || reloaded.length === 0;
    if (isApplied) this.#plan = { ...this.#plan, copy };
    // A silent one may have either configuration.
    const astray = isApplied ? failed : failed.filter(({ answer }) => answer.state === 'silent');
    void this.#replaceAstray(astray);
    if (!isApplied) throw new Error(describeFailures(failed));
  }

  async #replaceAstray(astray: readonly Reloaded[]): Promise<void> {
    for (const { member } of astray) {
      const reason = await this.#replace(member, this.#plan.atStart);
      if (reason === null) continue;
      this.#log('error', { kind: 'worker_not_started', reason });
      // Its end makes room for another try.
      member.kill();
    }
  }

  #countServing(): void {
    this.#deps.metrics.setWorkers(this.#serving.size);
  }

  #log(level: 'info' | 'error', event: Readonly<Record<string, unknown>>): void {
    this.#deps.log[level]('worker', event);
  }
}

function describeFailures(failed: readonly Reloaded[]): string {
  const reasons = failed.flatMap(({ answer }) => ('reason' in answer ? [answer.reason] : []));
  return [...new Set(reasons)].join('; ');
}

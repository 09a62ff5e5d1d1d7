// The workers that serve: started together, replaced one by one, and when one ends by itself
// another takes its place, with growing pauses. Whatever starts one or reloads all is one step that
// excludes the others: nobody begins with a configuration that the others have left behind, and
// after each step, and each end, as many serve as there should be, or a step that adds them is due.
import type { Log, LogFields } from '../../adapters/telemetry/create-log.ts';
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

/** While others serve, a silent connection may wait for its client's next request. */
const RESTART_IDLE_GRACE_MS = 5_000;
const STOPPING = 'the gateway stops';

export class WorkerPool {
  readonly #deps: PoolDeps;
  readonly #starting = new Set<WorkerMember>();
  readonly #serving = new Set<WorkerMember>();
  readonly #leaving = new Set<WorkerMember>();
  readonly #pauses = createPauses();
  #plan: WorkerPlan;
  #totals: MetricsSnapshot = [];
  #isStopping = false;
  /** Until the missing ones are started. */
  #timer: NodeJS.Timeout | null = null;
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
    const reasons = await this.#exclusively(() => this.#fillUp());
    const isAlone = reasons.length === this.#deps.count;
    if (isAlone) throw new StartError([...new Set(reasons)].join('; '));
    this.#noteFailures(reasons);
  }

  /** Throws when no worker took it: they all go on with the old one. */
  async reload(copy: ConfigCopy): Promise<void> {
    await this.#exclusively(() => this.#reloadAll(copy));
  }

  /** Each new one serves before the one it replaces stops. */
  async replaceAll(atStart: Settings): Promise<RestartResult> {
    const olds = await this.#exclusively(async () => [...this.#serving]);
    for (const old of olds) {
      const reason = await this.#exclusively(() => this.#replace(old, atStart));
      if (reason !== null) return { isDone: false, reason };
      // No more than one at a time lets its requests end.
      await old.exited;
    }
    // For those that ended by themselves meanwhile.
    const [reason] = await this.#exclusively(() => this.#fillUp());
    return reason === undefined
      ? { isDone: true, replaced: olds.length }
      : { isDone: false, reason };
  }

  /** Lets the open requests of all end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
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
    const turn = this.#queue.then(run).finally(() => this.#fillUpLater());
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
      return this.#isStopping || started.isReady ? STOPPING : started.message;
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

  #noteFailures(reasons: readonly string[]): void {
    if (this.#isStopping) return;
    for (const reason of reasons) this.#log('error', { kind: 'worker_not_started', reason });
  }

  #fillUpLater(): void {
    const isDue = this.#serving.size < this.#deps.count && !this.#isStopping;
    if (!isDue || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#exclusively(async () => this.#noteFailures(await this.#fillUp()));
    }, this.#pauses.next());
  }

  /** @returns why some are still missing */
  async #fillUp(): Promise<readonly string[]> {
    const length = Math.max(0, this.#deps.count - this.#serving.size);
    const started = await Promise.all(Array.from({ length }, () => this.#spawn(this.#plan)));
    return started.filter((reason) => reason !== null);
  }

  /** @returns why nobody takes its place, or null; then its last requests are ending */
  async #replace(old: WorkerMember, atStart: Settings): Promise<string | null> {
    // The place of one that ended by itself is filled without us.
    if (!this.#serving.has(old)) return null;
    const reason = await this.#spawn({ ...this.#plan, atStart });
    if (reason !== null) return reason;
    this.#plan = { ...this.#plan, atStart };
    this.#deps.metrics.recordWorkerEnd('replaced');
    // Out of the number in this turn: the next step must not take it for one that stays.
    void this.#retire(old, RESTART_IDLE_GRACE_MS);
    return null;
  }

  async #retire(member: WorkerMember, idleGraceMs: number): Promise<void> {
    if (!this.#serving.delete(member)) return;
    this.#leaving.add(member);
    this.#countServing();
    await member.stop(idleGraceMs);
  }

  async #reloadAll(copy: ConfigCopy): Promise<void> {
    // Who leaves may still answer, and has nobody to take its place when it can't.
    const leaving = [...this.#leaving].map((member) => member.reload(copy));
    const reloaded = await Promise.all(
      [...this.#serving].map(async (member) => ({ member, answer: await member.reload(copy) })),
    );
    await Promise.all(leaving);
    const failed = reloaded.filter(({ answer }) => answer.state !== 'applied');
    const isApplied = failed.length < reloaded.length || reloaded.length === 0;
    if (isApplied) this.#plan = { ...this.#plan, copy };
    // Of those that ended or leave by now nothing is wanted.
    const staying = failed.filter(({ member }) => this.#serving.has(member));
    for (const { member, answer } of staying) {
      this.#log('error', { kind: 'worker_not_reloaded', worker: member.id, ...answer });
    }
    // A silent one may have either configuration.
    const astray = isApplied ? staying : staying.filter(({ answer }) => answer.state === 'silent');
    await this.#replaceAstray(astray.map(({ member }) => member));
    if (!isApplied) throw new Error(describeFailures(failed.map(({ answer }) => answer)));
  }

  async #replaceAstray(astray: readonly WorkerMember[]): Promise<void> {
    for (const member of astray) {
      const reason = await this.#replace(member, this.#plan.atStart);
      if (reason === null || !this.#serving.has(member)) continue;
      this.#noteFailures([reason]);
      // Its end makes room for another try.
      member.kill();
    }
  }

  #countServing(): void {
    this.#deps.metrics.setWorkers(this.#serving.size);
  }

  #log(level: 'info' | 'error', event: LogFields & { readonly kind: string }): void {
    // For people the same word: it has to say something without the fields.
    this.#deps.log[level](event.kind.replaceAll('_', ' '), event);
  }
}

function describeFailures(answers: readonly ReloadAnswer[]): string {
  const reasons = answers.flatMap((answer) => ('reason' in answer ? [answer.reason] : []));
  return [...new Set(reasons)].join('; ');
}

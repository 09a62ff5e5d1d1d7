// One worker as the primary process deals with it: its questions answered, its end known, and what
// it is asked in plain calls.
import { type MetricsSnapshot, readSnapshot } from '../../adapters/telemetry/merge-snapshots.ts';
import type { Dealer, Seat } from '../../adapters/workers/dealer.ts';
import { forkWorker, type WorkerExit } from '../../adapters/workers/fork-worker.ts';
import type { LeaseKeeper, LeaseMember } from '../../adapters/workers/lease-keeper.ts';
import type { ConfigCopy } from '../../config/config-reader.ts';
import type { Done } from '../../pipeline/ports.ts';
import type { RefreshQueue } from '../../pipeline/refresh-ports.ts';
import type { OwnProgram } from '../own-program.ts';
import type { OwnRenderer } from '../own-renderer.ts';
import { STOP_DEADLINE_MS } from '../stop.ts';
import {
  type Assignment,
  type PrimaryQuestion,
  type PrimaryWord,
  readOptionalText,
  readWorkerQuestion,
  readWorkerWord,
} from './messages.ts';

export type Started =
  | { readonly isReady: true }
  | { readonly isReady: false; readonly message: string };

export interface WorkerMember {
  readonly id: number;
  readonly pid: number | undefined;
  /** Whether it serves, or why it never will. */
  readonly started: Promise<Started>;
  readonly exited: Promise<WorkerExit>;
  /** Gives it connections from now on. */
  readonly serve: () => void;
  /** `refused`: it goes on with the old one. `silent`: nobody knows. */
  readonly reload: (copy: ConfigCopy) => Promise<ReloadAnswer>;
  /** What it counted, as far as it is known. */
  readonly snapshot: () => MetricsSnapshot;
  readonly refreshSnapshot: () => Promise<void>;
  /** Lets its open requests end; resolves when it is gone, and sees to it that it goes. */
  readonly stop: (idleGraceMs: number) => Promise<void>;
  readonly kill: () => void;
}

export type ReloadAnswer =
  | { readonly state: 'applied' }
  | { readonly state: 'refused' | 'silent'; readonly reason: string };

export interface MemberDeps {
  readonly program: OwnProgram;
  readonly assignment: Assignment;
  readonly renderer: Pick<OwnRenderer, 'start' | 'untilReady'>;
  readonly leases: LeaseKeeper;
  readonly dealer: Dealer;
  readonly queueRefresh: RefreshQueue['add'];
  readonly onDefect: (error: unknown) => void;
}

const START_TIMEOUT_MS = 60_000;
const RELOAD_TIMEOUT_MS = 30_000;
const METRICS_TIMEOUT_MS = 2_000;
/** Running fetches end after the requests. */
const STOP_TIMEOUT_MS = STOP_DEADLINE_MS + 5_000;
const EXIT_TIMEOUT_MS = 2_000;

/** Forks it; it asks for its assignment by itself. */
export function startMember(deps: MemberDeps): WorkerMember {
  const { program, leases, dealer, onDefect } = deps;
  const start = createStart();
  let snapshot: MetricsSnapshot = [];
  let seat: Seat | null = null;
  const lease = leases.join((turn, result) => tell({ kind: 'lease_ended', turn, result }));
  const worker = forkWorker(program, {
    answer: async (body) => await answer(body, lease, deps),
    hear: (body) => {
      try {
        const word = readWorkerWord(body);
        if (word.kind === 'release') lease.release(word.key, word.turn, word.result);
        else if (word.kind === 'failed') start.settle({ isReady: false, message: word.message });
        else start.settle({ isReady: true });
      } catch (cause) {
        onDefect(cause);
      }
    },
    accepted: (id) => seat?.accepted(id),
  });
  const tell = (word: PrimaryWord): void => worker.channel.tell(word);
  const ask = async (question: PrimaryQuestion, timeoutMs: number) =>
    await worker.channel.ask(question, timeoutMs);
  const takeSnapshot = async (question: PrimaryQuestion, timeoutMs: number): Promise<void> => {
    const answered = await ask(question, timeoutMs);
    if (answered.state === 'done') snapshot = readSnapshot(answered.value) ?? snapshot;
  };
  void worker.exited.then((exit) => {
    lease.leave();
    seat?.leave();
    const how = exit.signal ?? `status ${exit.code}`;
    start.settle({ isReady: false, message: `a worker ended before it was ready (${how})` });
  });
  return {
    id: deps.assignment.worker,
    pid: worker.pid,
    started: start.settled,
    exited: worker.exited,
    serve: () => {
      seat = dealer.seat(worker.give);
    },
    reload: async (copy) =>
      readReloadAnswer(await ask({ kind: 'reload', copy }, RELOAD_TIMEOUT_MS)),
    snapshot: () => snapshot,
    refreshSnapshot: async () => await takeSnapshot({ kind: 'metrics' }, METRICS_TIMEOUT_MS),
    stop: async (idleGraceMs) => {
      seat?.retire();
      await takeSnapshot({ kind: 'stop', idleGraceMs }, STOP_TIMEOUT_MS);
      tell({ kind: 'exit' });
      const timer = setTimeout(worker.kill, EXIT_TIMEOUT_MS);
      await worker.exited;
      clearTimeout(timer);
    },
    kill: worker.kill,
  };
}

/** What a worker asks of its primary process. */
async function answer(
  body: unknown,
  lease: LeaseMember,
  { assignment, renderer, queueRefresh }: MemberDeps,
): Promise<unknown> {
  const question = readWorkerQuestion(body);
  switch (question.kind) {
    case 'assignment':
      return assignment;
    case 'renderer':
      return await renderer.start();
    case 'renderer_ready': {
      const ready = await renderer.untilReady(question.timeoutMs);
      return ready.state === 'done' ? null : ready.reason;
    }
    case 'refresh':
      return await queueRefresh(question.job);
    case 'enter':
      return lease.enter(question.key, question.turn);
  }
}

function readReloadAnswer(answered: Done<unknown>): ReloadAnswer {
  if (answered.state === 'unavailable') return { state: 'silent', reason: answered.reason };
  const reason = readOptionalText(answered.value);
  return reason === null ? { state: 'applied' } : { state: 'refused', reason };
}

interface Start {
  readonly settled: Promise<Started>;
  /** The first word counts. */
  readonly settle: (started: Started) => void;
}

function createStart(): Start {
  let settle = (_started: Started): void => undefined;
  const settled = new Promise<Started>((resolve) => {
    settle = resolve;
  });
  const timer = setTimeout(() => {
    settle({ isReady: false, message: `a worker was not ready in ${START_TIMEOUT_MS} ms` });
  }, START_TIMEOUT_MS);
  void settled.then(() => clearTimeout(timer));
  return { settled, settle };
}

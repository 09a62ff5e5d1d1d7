// One worker as the primary process deals with it: its questions answered, its end known, and what
// it is asked in plain calls.
import { type MetricsSnapshot, readSnapshot } from '../../adapters/telemetry/merge-snapshots.ts';
import { forkWorker, type WorkerExit } from '../../adapters/workers/fork-worker.ts';
import type { LeaseKeeper } from '../../adapters/workers/lease-keeper.ts';
import type { ConfigCopy } from '../../config/config-reader.ts';
import type { RefreshQueue } from '../../pipeline/ports.ts';
import type { OwnProgram } from '../own-program.ts';
import type { Addresses } from '../serving.ts';
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
  | { readonly isReady: true; readonly addresses: Addresses }
  | { readonly isReady: false; readonly message: string };

export interface WorkerMember {
  readonly id: number;
  readonly pid: number | undefined;
  /** Whether it serves, or why it never will. */
  readonly started: Promise<Started>;
  readonly exited: Promise<WorkerExit>;
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
  readonly startRenderer: () => Promise<string>;
  readonly leases: LeaseKeeper;
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
  const { program, assignment, startRenderer, leases, queueRefresh, onDefect } = deps;
  let snapshot: MetricsSnapshot = [];
  let settleStart = (_started: Started): void => undefined;
  const started = new Promise<Started>((resolve) => {
    settleStart = resolve;
  });
  const lease = leases.join((turn, result) => tell({ kind: 'lease_ended', turn, result }));
  const worker = forkWorker(program, {
    answer: async (body) => {
      const question = readWorkerQuestion(body);
      if (question.kind === 'assignment') return assignment;
      if (question.kind === 'renderer') return await startRenderer();
      if (question.kind === 'refresh') return await queueRefresh(question.job);
      return lease.enter(question.key, question.turn);
    },
    hear: (body) => {
      try {
        const word = readWorkerWord(body);
        if (word.kind === 'release') lease.release(word.key, word.turn, word.result);
        else if (word.kind === 'failed') settleStart({ isReady: false, message: word.message });
        else settleStart({ isReady: true, addresses: word.addresses });
      } catch (cause) {
        onDefect(cause);
      }
    },
  });
  const tell = (word: PrimaryWord): void => worker.channel.tell(word);
  const ask = async (question: PrimaryQuestion, timeoutMs: number) =>
    await worker.channel.ask(question, timeoutMs);
  const takeSnapshot = async (question: PrimaryQuestion, timeoutMs: number): Promise<void> => {
    const answer = await ask(question, timeoutMs);
    if (answer.state === 'done') snapshot = readSnapshot(answer.value) ?? snapshot;
  };

  const startTimer = setTimeout(() => {
    settleStart({ isReady: false, message: `a worker was not ready in ${START_TIMEOUT_MS} ms` });
  }, START_TIMEOUT_MS);
  void started.then(() => clearTimeout(startTimer));
  void worker.exited.then((exit) => {
    lease.leave();
    const how = exit.signal ?? `status ${exit.code}`;
    settleStart({ isReady: false, message: `a worker ended before it was ready (${how})` });
  });

  return {
    id: worker.id,
    pid: worker.pid,
    started,
    exited: worker.exited,
    reload: async (copy) => {
      const answer = await ask({ kind: 'reload', copy }, RELOAD_TIMEOUT_MS);
      if (answer.state === 'unavailable') return { state: 'silent', reason: answer.reason };
      const reason = readOptionalText(answer.value);
      return reason === null ? { state: 'applied' } : { state: 'refused', reason };
    },
    snapshot: () => snapshot,
    refreshSnapshot: async () => await takeSnapshot({ kind: 'metrics' }, METRICS_TIMEOUT_MS),
    stop: async (idleGraceMs) => {
      await takeSnapshot({ kind: 'stop', idleGraceMs }, STOP_TIMEOUT_MS);
      tell({ kind: 'exit' });
      const timer = setTimeout(worker.kill, EXIT_TIMEOUT_MS);
      await worker.exited;
      clearTimeout(timer);
    },
    kill: worker.kill,
  };
}

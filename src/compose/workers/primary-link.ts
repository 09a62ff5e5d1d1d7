// The primary process as its worker uses it, in plain calls.

import type { WorkerChannel } from '../../adapters/workers/channel.ts';
import type { LeaseLink } from '../../adapters/workers/create-member-leases.ts';
import type { RefreshQueue } from '../../pipeline/refresh-ports.ts';
import type { OwnRenderer } from '../own-renderer.ts';
import {
  type Assignment,
  readAdded,
  readAssignment,
  readOptionalText,
  readRole,
  type WorkerQuestion,
  type WorkerWord,
} from './messages.ts';

export interface PrimaryLink {
  readonly askAssignment: () => Promise<Assignment>;
  readonly tell: (word: WorkerWord) => void;
  /** The one renderer that all workers share; the primary starts, reloads and ends it. */
  readonly renderer: OwnRenderer;
  readonly leases: LeaseLink;
  /** It has the refresh queue. */
  readonly queueRefresh: RefreshQueue['add'];
}

const ASSIGNMENT_TIMEOUT_MS = 10_000;
const RENDERER_TIMEOUT_MS = 30_000;
/** For an answer on its way. */
const ANSWER_TIMEOUT_MS = 1_000;
/**
 * A primary process that is gone takes its workers along: who still waits for one waits for one
 * that is busy, and to be late costs less than what each worker would fetch by itself meanwhile.
 */
const LEASE_TIMEOUT_MS = 5_000;
const REFRESH_TIMEOUT_MS = 5_000;

export function createPrimaryLink({ ask, tell }: WorkerChannel): PrimaryLink {
  const askFor = async <T>(
    question: WorkerQuestion,
    timeoutMs: number,
    read: (answer: unknown) => T,
  ): Promise<T> => {
    const answer = await ask(question, timeoutMs);
    if (answer.state === 'done') return read(answer.value);
    throw new Error(`the primary process did not answer "${question.kind}": ${answer.reason}`);
  };
  const tellWord = (word: WorkerWord): void => tell(word);
  return {
    askAssignment: async () =>
      await askFor({ kind: 'assignment' }, ASSIGNMENT_TIMEOUT_MS, readAssignment),
    tell: tellWord,
    renderer: {
      start: async () => {
        const url = await askFor({ kind: 'renderer' }, RENDERER_TIMEOUT_MS, readOptionalText);
        if (url === null) throw new Error('the primary process has no renderer');
        return url;
      },
      untilReady: async (timeoutMs) => {
        const question: WorkerQuestion = { kind: 'renderer_ready', timeoutMs };
        const answer = await ask(question, timeoutMs + ANSWER_TIMEOUT_MS);
        if (answer.state === 'unavailable') return answer;
        const reason = readOptionalText(answer.value);
        if (reason !== null) return { state: 'unavailable', reason };
        return { state: 'done', value: undefined };
      },
      reload: () => undefined,
      close: async () => undefined,
    },
    leases: {
      enter: async (key, turn) => {
        const answer = await ask({ kind: 'enter', key, turn }, LEASE_TIMEOUT_MS);
        return answer.state === 'done' ? { ...answer, value: readRole(answer.value) } : answer;
      },
      release: (key, turn, result) => tellWord({ kind: 'release', key, turn, result }),
    },
    queueRefresh: async (job) => {
      const answer = await ask({ kind: 'refresh', job }, REFRESH_TIMEOUT_MS);
      return answer.state === 'done' ? readAdded(answer.value) : answer;
    },
  };
}

// Questions with answers, and words without, between two processes. Every question has a deadline,
// and one that can't be answered any more is told so at once; what comes too late is dropped.
import { fieldsOf } from '../../core/records.ts';
import type { Done } from '../../pipeline/ports.ts';

/** What carries the frames: an IPC pipe. */
export interface Wire {
  /** Never throws; what can't be sent is lost. */
  readonly send: (frame: Frame) => void;
}

export interface Listener {
  /** Answers a question of the other side; what it throws is told there as a failure. */
  readonly answer: (question: unknown) => Promise<unknown>;
  readonly hear: (word: unknown) => void;
}

export interface WorkerChannel {
  /** The value is whatever the other side says: to be checked by who asked. */
  readonly ask: (question: object, timeoutMs: number) => Promise<Done<unknown>>;
  readonly tell: (word: object) => void;
  /** To be given every message of the wire. */
  readonly receive: (message: unknown) => void;
  /** The other side is gone. */
  readonly close: () => void;
}

export type Frame =
  | { readonly kind: 'question'; readonly id: number; readonly body: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly body: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly reason: string }
  | { readonly kind: 'word'; readonly body: unknown };

type Settle = (answer: Done<unknown>) => void;

const GONE: Done<never> = { state: 'unavailable', reason: 'the other process is gone' };

export function createWorkerChannel(wire: Wire, listener: Listener): WorkerChannel {
  const open = new Map<number, Settle>();
  let lastId = 0;
  let isClosed = false;

  async function answer(id: number, question: unknown): Promise<void> {
    try {
      wire.send({ kind: 'answer', id, body: await listener.answer(question) });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      wire.send({ kind: 'failure', id, reason });
    }
  }

  return {
    ask: async (question, timeoutMs) => {
      if (isClosed) return GONE;
      lastId += 1;
      const id = lastId;
      return await new Promise((resolve) => {
        const late = { state: 'unavailable', reason: `no answer in ${timeoutMs} ms` } as const;
        const timer = setTimeout(() => open.get(id)?.(late), timeoutMs);
        open.set(id, (result) => {
          clearTimeout(timer);
          open.delete(id);
          resolve(result);
        });
        wire.send({ kind: 'question', id, body: question });
      });
    },
    tell: (word) => wire.send({ kind: 'word', body: word }),
    receive: (message) => {
      const frame = readFrame(message);
      if (frame === null) return;
      switch (frame.kind) {
        case 'question':
          void answer(frame.id, frame.body);
          return;
        case 'answer':
          open.get(frame.id)?.({ state: 'done', value: frame.body });
          return;
        case 'failure':
          open.get(frame.id)?.({ state: 'unavailable', reason: frame.reason });
          return;
        case 'word':
          listener.hear(frame.body);
          return;
      }
    },
    close: () => {
      isClosed = true;
      for (const settle of open.values()) settle(GONE);
    },
  };
}

/** null: no message of ours; Node and libraries use the same pipe. */
function readFrame(message: unknown): Frame | null {
  const { kind, id, body, reason } = fieldsOf(message);
  if (kind === 'word') return { kind, body };
  if (typeof id !== 'number') return null;
  if (kind === 'question' || kind === 'answer') return { kind, id, body };
  return kind === 'failure' ? { kind, id, reason: String(reason) } : null;
}

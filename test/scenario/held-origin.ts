// An origin that answers when it is told to, with what it had when it was asked.
import type { Socket } from 'node:net';
import { type RawOrigin, type RawRequest, startRawOrigin } from '../helpers/raw-origin.ts';
import { answer } from './stage.ts';

type Make = (request: RawRequest) => string;

export interface HeldOrigin extends RawOrigin {
  /** What it answers from now on, when it is told to; `requests` are counted anew. */
  readonly play: (make: Make) => void;
  /** Local ports of the connections that wait for an answer. */
  readonly held: () => readonly number[];
  /** Since `play`. */
  readonly asked: () => readonly RawRequest[];
  /** Answers those that wait, but so many of the first, and from now on at once. */
  readonly release: (but?: number) => void;
  /** Answers those that wait, and holds who comes next. */
  readonly releaseHeld: () => void;
  readonly hold: () => void;
}

/** Everybody waits until it is released. */
export async function startHeldOrigin(): Promise<HeldOrigin> {
  const waiting: { readonly text: string; readonly socket: Socket }[] = [];
  let make: Make = () => answer(404, '');
  let isHolding = true;
  let before = 0;
  const origin = await startRawOrigin({
    answer: (request, socket) => {
      const text = make(request);
      if (!isHolding) return text;
      waiting.push({ text, socket });
      return null;
    },
  });
  const answerHeld = (but = 0): void => {
    for (const { text, socket } of waiting.splice(but)) socket.write(text, 'latin1');
  };
  return Object.assign(origin, {
    play: (next: Make) => {
      make = next;
      isHolding = true;
      before = origin.requests.length;
    },
    held: () => waiting.map(({ socket }) => socket.remotePort ?? 0),
    asked: () => origin.requests.slice(before),
    releaseHeld: () => answerHeld(),
    release: (but?: number) => {
      isHolding = false;
      answerHeld(but);
    },
    hold: () => {
      isHolding = true;
    },
  });
}

// Pipelined requests are handled one after another, as they are answered. It bounds what one
// connection can have running, and every answer that is being made has its socket, so that a client
// that leaves is noticed at once. While requests wait, no more are read.
import type { DoorRequest } from './connection.ts';

interface Turns {
  isBusy: boolean;
  isPaused: boolean;
  readonly waiting: (() => void)[];
}

const turnsBySocket = new WeakMap<object, Turns>();

/** Runs `handle` when the answers before this one are done; never, if the connection ends first. */
export function handleInTurn({ request, response }: DoorRequest, handle: () => void): void {
  // HTTP/2 has its own streams and flow control.
  if (request.httpVersionMajor === 2) {
    handle();
    return;
  }
  const { socket } = request;
  const turns = turnsBySocket.get(socket) ?? { isBusy: false, isPaused: false, waiting: [] };
  turnsBySocket.set(socket, turns);
  const run = (): void => {
    turns.isBusy = true;
    response.once('close', () => {
      turns.isBusy = false;
      if (socket.destroyed) return;
      turns.waiting.shift()?.();
      if (!turns.isPaused || turns.waiting.length > 0) return;
      turns.isPaused = false;
      socket.resume();
    });
    handle();
  };
  if (!turns.isBusy) {
    run();
    return;
  }
  turns.waiting.push(run);
  turns.isPaused = true;
  socket.pause();
}

// An origin's answer on its way to the client: its head has gone, its body goes as it comes, each
// chunk of the origin's in one write.
import type { Socket } from 'node:net';
import type { Outgoing } from './outgoing.ts';
import { type OriginHead, readAnswerHead } from './read-answer.ts';
import { type BodyReader, type BodyState, createBodyReader } from './read-body.ts';
import { beginAnswer, type PassedBody, type PassedTo } from './write-passed.ts';

export interface RelayTo extends PassedTo {
  readonly client: Socket;
  /** Whether 304 is an answer to what was asked. */
  readonly asksForChange: boolean;
}

/** What head and framing usually grow by. */
const ADDED_BYTES = 2_048;
const NOT_MODIFIED = 304;

/**
 * Sends the head and what has come of the body.
 *
 * @param received the head, and whatever came with it
 * @param bodyAt where the body begins
 * @returns null: the lane can't read it, and nothing was sent
 */
export function relayAnswer(received: Buffer, bodyAt: number, to: RelayTo): RelayedAnswer | null {
  const head = readAnswerHead(received.toString('latin1', 0, bodyAt));
  if (head === null || (head.status === NOT_MODIFIED && !to.asksForChange)) return null;
  const reader = createBodyReader(head.framing);
  const pieces: Buffer[] = [];
  const state = reader.read(received.subarray(bodyAt), (piece) => void pieces.push(piece));
  if (state === 'broken') return null;
  const { client, outgoing } = to;
  outgoing.begin(client, received.length + ADDED_BYTES);
  const body = beginAnswer(head, to);
  for (const piece of pieces) body.write(piece);
  if (state === 'whole') body.end(reader.trailers());
  outgoing.send();
  return new RelayedAnswer({ client, outgoing, head, reader, body }, state);
}

interface RelayParts {
  readonly client: Socket;
  readonly outgoing: Outgoing;
  readonly head: OriginHead;
  readonly reader: BodyReader;
  readonly body: PassedBody;
}

export class RelayedAnswer {
  readonly #parts: RelayParts;
  #state: BodyState;

  constructor(parts: RelayParts, state: BodyState) {
    this.#parts = parts;
    this.#state = state;
  }

  get status(): number {
    return this.#parts.head.status;
  }

  get state(): BodyState {
    return this.#state;
  }

  /** Whether its connection can be used again, once it is whole. */
  get leavesLinkClean(): boolean {
    return this.#parts.head.keepsAlive && !this.#parts.reader.hasRest();
  }

  /** Sends what has come. */
  read(chunk: Buffer): void {
    const { client, outgoing, reader, body } = this.#parts;
    outgoing.begin(client, chunk.length + ADDED_BYTES);
    this.#state = reader.read(chunk, body.write);
    if (this.#state === 'whole') body.end(reader.trailers());
    outgoing.send();
  }

  /** No more comes. */
  end(): void {
    const { client, outgoing, reader, body } = this.#parts;
    if (!reader.end()) {
      this.#state = 'broken';
      return;
    }
    outgoing.begin(client, ADDED_BYTES);
    body.end([]);
    outgoing.send();
    this.#state = 'whole';
  }
}

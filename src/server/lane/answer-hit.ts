// A hit on a page in memory: head and body in one write.
import type { Socket } from 'node:net';
import type { LaneTurn, TakeTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import { finishedRequest } from './finished-request.ts';
import { type LaneRequest, type PagePlan, requestIdOf } from './lane-plans.ts';
import type { Outgoing } from './outgoing.ts';
import type { HeadParts } from './serialize-head.ts';

/** What goes out in one write: more is sent piece by piece, as fast as the client reads. */
const ANSWER_BYTES_MAX = 65_536;
const NOTHING = Buffer.alloc(0);

type AnswerHit = (turn: LaneTurn, request: LaneRequest, plan: PagePlan) => ReturnType<TakeTurn>;

export function createHitAnswerer(
  { onFinished }: Pick<GatewayDeps, 'onFinished'>,
  outgoing: Outgoing,
): AnswerHit {
  return ({ socket, end }, request, plan) => {
    const answer = request.head.isConditional ? null : plan.page.find();
    if (answer === null) return 'left';
    const { words, body } = answer;
    const requestId = requestIdOf(request);
    const sent = { head: plan.headOf(words), requestId, body };
    plan.page.noteHit(words);
    const { record, answer: said } = words.delivery;
    const tell = (isAborted: boolean): void => {
      const answered = { record, requestId, status: said.status, isAborted, bypass: null };
      onFinished(finishedRequest(request, answered));
    };
    const isWhole = sendAtOnce(socket, sent, outgoing);
    if (isWhole && socket.writableLength === 0) {
      tell(false);
      return 'answered';
    }
    // It is long, or the client is slow to take it: until it has, nothing else is written and no
    // silence counted.
    sendRest(socket, isWhole ? [] : cutIntoPieces(sent), (isAborted) => {
      tell(isAborted);
      end();
    });
    return 'answering';
  };
}

/** Piece by piece, as fast as the client reads: so it is seen whether it reads at all. */
function sendRest(
  socket: Socket,
  pieces: readonly Buffer[],
  onDone: (isAborted: boolean) => void,
): void {
  let next = 0;
  const writeOn = (): void => {
    while (socket.writableLength === 0 && next < pieces.length) {
      socket.write(pieces[next] ?? NOTHING);
      next += 1;
    }
    if (socket.writableLength === 0) onDone(socket.destroyed);
    else socket.write(NOTHING, (error) => (error ? onDone(true) : writeOn()));
  };
  writeOn();
}

function cutIntoPieces({ head, requestId, body }: Sent): readonly Buffer[] {
  const id = Buffer.from(head.tellsRequestId ? requestId : '', 'latin1');
  const bodyInFirst = body.subarray(0, ANSWER_BYTES_MAX);
  const pieces: Buffer[] = [Buffer.concat([head.before, id, head.after, bodyInFirst])];
  for (let at = ANSWER_BYTES_MAX; at < body.length; at += ANSWER_BYTES_MAX) {
    pieces.push(body.subarray(at, at + ANSWER_BYTES_MAX));
  }
  return pieces;
}

interface Sent {
  readonly head: HeadParts;
  readonly requestId: string;
  readonly body: Buffer;
}

/** @returns false: it is too much for one write, and nothing was sent */
function sendAtOnce(socket: Socket, sent: Sent, outgoing: Outgoing): boolean {
  const { head, requestId, body } = sent;
  const bytes = head.before.length + requestId.length + head.after.length + body.length;
  if (bytes > ANSWER_BYTES_MAX) return false;
  outgoing.begin(socket, bytes);
  outgoing.addBytes(head.before);
  if (head.tellsRequestId) outgoing.addText(requestId);
  outgoing.addBytes(head.after);
  outgoing.addBytes(body);
  outgoing.send();
  return true;
}

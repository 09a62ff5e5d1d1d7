// A hit on a page in memory: head and body in one write, from one buffer that is used again and
// again.
import type { Socket } from 'node:net';
import type { LaneTurn, TakeTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import { finishedRequest } from './finished-request.ts';
import { type LaneRequest, type PagePlan, requestIdOf } from './lane-plans.ts';
import type { HeadParts } from './serialize-head.ts';

/** What goes out in one write: more is sent piece by piece, as fast as the client reads. */
const ANSWER_BYTES_MAX = 65_536;
const NOTHING = Buffer.alloc(0);

type AnswerHit = (turn: LaneTurn, request: LaneRequest, plan: PagePlan) => ReturnType<TakeTurn>;

export function createHitAnswerer({ onFinished }: Pick<GatewayDeps, 'onFinished'>): AnswerHit {
  const send = createSender();
  return ({ socket, end }, request, plan) => {
    const answer = request.head.isConditional ? null : plan.page.find();
    if (answer === null) return 'left';
    const { words, body } = answer;
    const requestId = requestIdOf(request);
    if (!send(socket, { head: plan.headOf(words), requestId, body })) return 'left';
    plan.page.noteHit(words);
    const { record, answer: said } = words.delivery;
    const tell = (isAborted: boolean): void => {
      const answered = { record, requestId, status: said.status, isAborted, bypass: null };
      onFinished(finishedRequest(request, answered));
    };
    if (socket.writableLength === 0) {
      tell(false);
      return 'answered';
    }
    // The client is slow to take it: until it has, nothing else is written and no silence counted.
    socket.write(NOTHING, (error) => {
      tell(Boolean(error));
      end();
    });
    return 'answering';
  };
}

interface Sent {
  readonly head: HeadParts;
  readonly requestId: string;
  readonly body: Buffer;
}

/** @returns a sender; false: it is too much for one write, and nothing was sent */
function createSender(): (socket: Socket, sent: Sent) => boolean {
  let buffer = Buffer.allocUnsafe(ANSWER_BYTES_MAX);
  return (socket, { head, requestId, body }) => {
    const bytes = head.before.length + requestId.length + head.after.length + body.length;
    if (bytes > ANSWER_BYTES_MAX) return false;
    let end = head.before.copy(buffer);
    if (head.tellsRequestId) end += buffer.write(requestId, end, 'latin1');
    end += head.after.copy(buffer, end);
    end += body.copy(buffer, end);
    socket.write(buffer.subarray(0, end));
    // The system hasn't taken all of it: what waits must not be written over.
    if (socket.writableLength > 0) buffer = Buffer.allocUnsafe(ANSWER_BYTES_MAX);
    return true;
  };
}

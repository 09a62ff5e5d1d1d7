// The fast lane: a crawler's hit on a page in memory, from the bytes of the request to one write on
// the socket. What it can't answer in one turn goes through Node's parser and the pipeline as if
// there were no lane, and either way the same bytes go out: what is said is described by the
// pipeline, here it is only kept for as long as it is right.
import type { Socket } from 'node:net';
import { isLoop } from '../../core/http/forwarded.ts';
import type { HotWords } from '../../pipeline/hot-page.ts';
import type { TakeChunk } from '../door/connection.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import { chooseRequestId } from '../gateway/receive-request.ts';
import type { FinishedRequest } from '../gateway/visit.ts';
import { addressOf, createLanePlans, type LaneOptions, type LaneRequest } from './lane-plans.ts';
import { readHead } from './read-head.ts';
import type { HeadParts } from './serialize-head.ts';

/** A longer head is nobody's who is in a hurry. */
const HEAD_BYTES_MAX = 4_096;
/** What goes out in one write: more is sent piece by piece, as fast as the client reads. */
const ANSWER_BYTES_MAX = 65_536;
const NOTHING = Buffer.alloc(0);

/** @returns answers the request in a chunk; false: nothing was done with it */
export function createFastLane(
  deps: GatewayDeps,
  options: Omit<LaneOptions, 'pseudonym'>,
): TakeChunk {
  const { pseudonym } = deps;
  const { headerFieldsMax } = options.limits;
  const plans = createLanePlans({ ...options, pseudonym });
  const send = createSender();

  const read = (socket: Socket, chunk: Buffer): LaneRequest | null => {
    // Whoever has not taken the last answer yet is in no hurry either.
    if (chunk.length > HEAD_BYTES_MAX || !socket.writable || socket.writableLength > 0) return null;
    const head = readHead(chunk, headerFieldsMax);
    if (head === null || (head.via !== null && isLoop([head.via], pseudonym))) return null;
    return { head, peer: socket.remoteAddress ?? '', snapshot: deps.snapshot() };
  };

  return (socket, chunk) => {
    const startedAtMs = performance.now();
    const request = read(socket, chunk);
    const plan = request === null ? null : plans.find(request);
    const answer = plan?.page.find() ?? null;
    if (request === null || plan === null || answer === null) return false;
    const { words, body } = answer;
    const requestId = requestIdOf(request);
    if (!send(socket, { head: plan.headOf(words), requestId, body })) return false;
    const told = { requestId, startedAtMs, words };
    if (socket.writableLength === 0) deps.onFinished(describe(request, told, false));
    else socket.write(NOTHING, (error) => deps.onFinished(describe(request, told, Boolean(error))));
    return true;
  };
}

function requestIdOf({ head: { requestId }, peer, snapshot }: LaneRequest): string {
  return requestId === null
    ? chooseRequestId(undefined, false)
    : chooseRequestId(requestId, snapshot.isTrustedPeer(peer));
}

interface Sent {
  readonly head: HeadParts;
  readonly requestId: string;
  readonly body: Buffer;
}

/**
 * Head and body in one write, from one buffer that is used again and again.
 *
 * @returns false: it is too much for that, and nothing was sent
 */
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

interface Told {
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly words: HotWords;
}

function describe(
  request: LaneRequest,
  { requestId, startedAtMs, words: { delivery } }: Told,
  isAborted: boolean,
): FinishedRequest {
  return {
    record: delivery.record,
    requestId,
    method: 'GET',
    clientAddress: addressOf(request),
    userAgent: request.head.userAgent ?? '',
    status: delivery.answer.status,
    durationMs: performance.now() - startedAtMs,
    isAborted,
    bypass: null,
  };
}

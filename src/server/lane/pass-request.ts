// A request that is passed on from socket to socket: its head written anew, the answer's head
// written anew, the body as it comes. A GET may be asked for twice (RFC 9110 §9.2.2), so whatever
// is out of the ordinary before the head of the answer is left to the long way, which asks again.
import { forwardRequestHeaders } from '../../core/http/forwarded.ts';
import { formatError } from '../bypass/answer-error.ts';
import { BypassError } from '../bypass/bypass-error.ts';
import type { BypassOutcome, BypassTarget } from '../bypass/ports.ts';
import type { LaneTurn, TakeTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import type { OriginTurn } from '../gateway/visit.ts';
import { finishedRequest } from './finished-request.ts';
import { type LaneRequest, type PassPlan, requestIdOf } from './lane-plans.ts';
import type { OriginLink, OriginLinks } from './ports.ts';
import { type OriginHead, readAnswerHead } from './read-answer.ts';
import { type BodyReader, type BodyState, createBodyReader } from './read-body.ts';
import { listFields } from './read-head.ts';
import { beginAnswer, formatHead, type PassedBody } from './write-passed.ts';

type Pass = (turn: LaneTurn, request: LaneRequest, plan: PassPlan) => ReturnType<TakeTurn>;

export interface PasserDeps extends Pick<GatewayDeps, 'onFinished' | 'takeOrigin' | 'pseudonym'> {
  readonly links: OriginLinks;
  readonly keepAliveTimeoutMs: number;
}

/** What one request on its way is made of. */
interface PassingParts {
  readonly turn: LaneTurn;
  readonly request: LaneRequest;
  readonly plan: PassPlan;
  readonly target: BypassTarget;
  readonly originTurn: OriginTurn;
  readonly link: OriginLink;
}

/** Of an answer; as for the long way. */
const HEAD_BYTES_MAX = 16_384;
/** What a client has not read yet, before its origin has to wait. */
const UNREAD_BYTES_MAX = 65_536;
/** How long the lane leaves an origin alone whose answers it can't read. */
const ODD_MEMORY_MS = 60_000;
const ODD_ORIGINS_MAX = 1_000;
const NOT_MODIFIED = 304;
const HEAD_END = '\r\n\r\n';
const NOTHING: Buffer = Buffer.alloc(0);

export function createPasser(deps: PasserDeps): Pass {
  /** Until when, by the monotonic clock. */
  const oddOrigins = new Map<string, number>();
  const noteOdd = (originUrl: string): void => {
    if (oddOrigins.size >= ODD_ORIGINS_MAX) oddOrigins.clear();
    oddOrigins.set(originUrl, performance.now() + ODD_MEMORY_MS);
  };
  return (turn, request, plan) => {
    const originTurn = deps.takeOrigin(plan.delivery.host.origins);
    const { originUrl } = originTurn;
    const isOdd = (oddOrigins.get(originUrl) ?? 0) > request.startedAtMs;
    const link = isOdd ? null : deps.links.open(originUrl);
    if (link === null) {
      originTurn.end('busy');
      return 'left';
    }
    const target = targetOf(request, plan, originUrl);
    const parts = { turn, request, plan, target, originTurn, link };
    new Passing(parts, { ...deps, noteOdd }).start();
    return 'answering';
  };
}

function targetOf(request: LaneRequest, plan: PassPlan, originUrl: string): BypassTarget {
  const requestId = requestIdOf(request);
  const { host, timeoutMs, userAgent } = plan.delivery;
  const publicHost = request.head.host;
  return {
    requestId,
    inner: null,
    originUrl,
    hostHeader: host.originHostHeader ?? publicHost,
    publicHost,
    scheme: host.scheme,
    timeoutMs,
    userAgent,
    extraResponseHeaders: plan.headersFor(requestId),
  };
}

function upstreamHead({ request, target }: PassingParts, pseudonym: string): string {
  const { head, peer, snapshot } = request;
  const fields = forwardRequestHeaders(listFields(head), {
    hostHeader: target.hostHeader,
    publicHost: target.publicHost,
    scheme: target.scheme,
    peerAddress: peer,
    isTrustedPeer: snapshot.isTrustedPeer(peer),
    pseudonym,
    httpVersion: '1.1',
    userAgent: target.userAgent,
    isShared: false,
  });
  let text = `GET ${head.target} HTTP/1.1\r\n`;
  for (let at = 0; at + 1 < fields.length; at += 2) text += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${text}Connection: keep-alive\r\n\r\n`;
}

interface PassingDeps extends PasserDeps {
  /** The lane can't read what this origin answers. */
  readonly noteOdd: (originUrl: string) => void;
}

/** One request on its way. */
class Passing {
  readonly #parts: PassingParts;
  readonly #deps: PassingDeps;
  #timer: NodeJS.Timeout | null = null;
  /** What has come before the head of the answer is whole. */
  #received = NOTHING;
  #head: OriginHead | null = null;
  #reader: BodyReader | null = null;
  #body: PassedBody | null = null;
  #keepsAlive = true;

  constructor(parts: PassingParts, deps: PassingDeps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  start(): void {
    const { turn, target, link } = this.#parts;
    this.#timer = setTimeout(() => this.#timeOut(), target.timeoutMs);
    turn.socket.once('close', this.#onClientGone);
    link.listen({ onData: (chunk) => this.#read(chunk), onClosed: () => this.#endOfLink() });
    link.write(upstreamHead(this.#parts, this.#deps.pseudonym));
  }

  #read(chunk: Buffer): void {
    if (this.#head !== null && this.#reader !== null && this.#body !== null) {
      this.#goOn(this.#head, feed(this.#reader, this.#body, chunk));
      return;
    }
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf(HEAD_END);
    if (end !== -1) this.#begin(end + HEAD_END.length);
    else if (this.#received.length > HEAD_BYTES_MAX) this.#leave(true);
  }

  /** @param bodyAt where the body begins in what was received */
  #begin(bodyAt: number): void {
    const { turn, request, target, originTurn } = this.#parts;
    const head = readAnswerHead(this.#received.toString('latin1', 0, bodyAt));
    if (head === null || (head.status === NOT_MODIFIED && !request.head.isConditional)) {
      this.#leave(true);
      return;
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    originTurn.end('ok');
    this.#keepsAlive = turn.keepsAlive();
    const client = turn.socket;
    const { pseudonym } = this.#deps;
    // Head and first piece in one write.
    client.cork();
    const to = { client, target, pseudonym, keepAliveMs: this.#keepAliveMs() };
    const body = beginAnswer(head, to);
    const reader = createBodyReader(head.framing);
    const state = feed(reader, body, this.#received.subarray(bodyAt));
    client.uncork();
    this.#head = head;
    this.#reader = reader;
    this.#body = body;
    this.#received = NOTHING;
    this.#goOn(head, state);
  }

  #goOn(head: OriginHead, state: BodyState): void {
    const { turn, link } = this.#parts;
    if (state === 'whole') this.#finish(head);
    else if (state === 'broken') this.#cut(head);
    else if (turn.socket.writableLength > UNREAD_BYTES_MAX) {
      link.pause();
      turn.socket.once('drain', link.resume);
    }
  }

  #finish(head: OriginHead): void {
    const { link } = this.#parts;
    this.#stop();
    if (head.keepsAlive && this.#reader?.hasRest() !== true) link.keep();
    else link.destroy();
    this.#settle(this.#answered(head));
  }

  /** An answer that was cut for us is cut for the client: a clean end would make it whole. */
  #cut(head: OriginHead): void {
    const { turn, link } = this.#parts;
    this.#stop();
    link.destroy();
    turn.socket.destroy();
    this.#tell(this.#answered(head), true);
  }

  #endOfLink(): void {
    if (this.#head === null) this.#leave(false);
    else if (this.#reader?.end() === true) {
      this.#body?.end([]);
      this.#finish(this.#head);
    } else this.#cut(this.#head);
  }

  /** Nothing has gone to the client yet: the long way asks again, and tells what there is to tell. */
  #leave(isOdd: boolean): void {
    const { turn, target, originTurn, link } = this.#parts;
    this.#stop();
    if (isOdd) this.#deps.noteOdd(target.originUrl);
    originTurn.end('busy');
    link.destroy();
    turn.leave();
  }

  readonly #onClientGone = (): void => {
    const { target, originTurn, link } = this.#parts;
    this.#stop();
    link.destroy();
    if (this.#head !== null) {
      this.#tell(this.#answered(this.#head), true);
      return;
    }
    originTurn.end('busy');
    const error = new BypassError('client_left', 'the client left');
    this.#tell(failed(error, target), true);
  };

  #timeOut(): void {
    const { turn, target, originTurn, link } = this.#parts;
    this.#stop();
    const error = link.isConnected()
      ? new BypassError('http_response_timeout', 'no answer in time')
      : new BypassError('connection_timeout', 'no connection in time');
    link.destroy();
    originTurn.end('failed');
    this.#keepsAlive = turn.keepsAlive();
    const { body, ...head } = formatError(error, target);
    turn.socket.write(formatHead(head, '', this.#keepAliveMs()) + body, 'latin1');
    this.#settle(failed(error, target));
  }

  #keepAliveMs(): number | null {
    return this.#keepsAlive ? this.#deps.keepAliveTimeoutMs : null;
  }

  /** All is written; told when it has gone. */
  #settle(outcome: BypassOutcome): void {
    const { turn } = this.#parts;
    const client = turn.socket;
    if (!this.#keepsAlive) client.end(() => this.#tell(outcome, false));
    else if (client.writableLength === 0) this.#tell(outcome, false);
    else client.write(NOTHING, (error) => this.#tell(outcome, Boolean(error)));
    turn.end();
  }

  #stop(): void {
    const { turn } = this.#parts;
    if (this.#timer !== null) clearTimeout(this.#timer);
    turn.socket.removeListener('close', this.#onClientGone);
  }

  #answered({ status }: OriginHead): BypassOutcome {
    return { originUrl: this.#parts.target.originUrl, status, error: null, detail: null };
  }

  #tell(outcome: BypassOutcome, isAborted: boolean): void {
    const { request, plan, target } = this.#parts;
    const { record } = plan.delivery;
    const { requestId } = target;
    const { status } = outcome;
    const answered = { record, requestId, status, isAborted, bypass: outcome };
    this.#deps.onFinished(finishedRequest(request, answered));
  }
}

function failed({ type, status, message }: BypassError, target: BypassTarget): BypassOutcome {
  return { originUrl: target.originUrl, status, error: type, detail: message };
}

function feed(reader: BodyReader, body: PassedBody, chunk: Buffer): BodyState {
  const state = reader.read(chunk, body.write);
  if (state === 'whole') body.end(reader.trailers());
  return state;
}

// A request that is passed on from socket to socket: its head written anew, the answer's head
// written anew, the body as it comes. A GET may be asked for twice (RFC 9110 §9.2.2), so whatever
// is out of the ordinary before the head of the answer is left to the long way, which asks again.

import { fieldValues } from '../../core/http/hop-headers.ts';
import type { LinkListener, OriginLink, OriginLinks } from '../../pipeline/origin-ports.ts';
import { formatError } from '../bypass/answer-error.ts';
import { BypassError } from '../bypass/bypass-error.ts';
import type { BypassOutcome, BypassTarget } from '../bypass/ports.ts';
import type { LaneTurn, TakeTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import type { OriginTurn } from '../gateway/visit.ts';
import { type Passable, targetOf, upstreamHead } from './address-request.ts';
import { finishedRequest } from './finished-request.ts';
import type { LaneRequest } from './lane-plans.ts';
import type { Outgoing } from './outgoing.ts';
import { type OriginHead, readAnswerHead } from './read-answer.ts';
import { type BodyReader, type BodyState, createBodyReader } from './read-body.ts';
import { beginAnswer, formatHead, type PassedBody } from './write-passed.ts';

type Pass = (turn: LaneTurn, request: LaneRequest, plan: Passable) => ReturnType<TakeTurn>;

export interface PasserDeps extends Pick<GatewayDeps, 'onFinished' | 'takeOrigin' | 'pseudonym'> {
  readonly links: Omit<OriginLinks, 'close'>;
  readonly outgoing: Outgoing;
  readonly keepAliveTimeoutMs: number;
}

/** What one request on its way is made of. */
interface PassingParts {
  readonly turn: LaneTurn;
  readonly request: LaneRequest;
  readonly plan: Passable;
  readonly target: BypassTarget;
  readonly originTurn: OriginTurn;
  readonly link: OriginLink;
}

/** Of an answer; as for the long way. */
const HEAD_BYTES_MAX = 16_384;
/** What a client has not read yet, before its origin has to wait. */
const UNREAD_BYTES_MAX = 65_536;
/** What head and framing usually grow by. */
const ADDED_BYTES = 2_048;
/** How long the lane leaves an origin alone whose answers it can't read. */
const ODD_MEMORY_MS = 60_000;
const ODD_ORIGINS_MAX = 1_000;
const NOT_MODIFIED = 304;
const HEAD_START = 'HTTP/1.1 ';
const HEAD_END = '\r\n\r\n';
const CR = 13;
const LF = 10;
const NOTHING: Buffer = Buffer.alloc(0);

export function createPasser(deps: PasserDeps): Pass {
  /** Until when, by the monotonic clock. */
  const oddOrigins = new Map<string, number>();
  const noteOdd = (originUrl: string): void => {
    if (oddOrigins.size >= ODD_ORIGINS_MAX) oddOrigins.clear();
    oddOrigins.set(originUrl, performance.now() + ODD_MEMORY_MS);
  };
  const passing = { ...deps, noteOdd };
  return (turn, request, plan) => {
    const { origins } = plan.delivery.host;
    // All or none: a turn that is taken here and left would be the long way's as well, and of two
    // equal origins one would get everything.
    for (const { url } of origins) {
      const isOdd = (oddOrigins.get(url) ?? 0) > request.startedAtMs;
      if (isOdd || !deps.links.isUsable(url)) return 'left';
    }
    const originTurn = deps.takeOrigin(origins);
    const target = targetOf(request, plan, originTurn.originUrl);
    const link = deps.links.open(originTurn.originUrl);
    const parts = { turn, request, plan, target, originTurn, link };
    new Passing(parts, passing).start();
    return 'answering';
  };
}

interface PassingDeps extends PasserDeps {
  /** The lane can't read what this origin answers. */
  readonly noteOdd: (originUrl: string) => void;
}

/** One request on its way. */
class Passing implements LinkListener {
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
    const { turn, request, target, link } = this.#parts;
    this.#timer = setTimeout(() => this.#timeOut(), target.timeoutMs);
    turn.onGone(() => this.#endClient());
    link.listen(this);
    link.write(upstreamHead(request, target, this.#deps.pseudonym));
  }

  onData(chunk: Buffer): void {
    if (this.#hasNoReader()) return;
    if (this.#head !== null && this.#reader !== null && this.#body !== null) {
      const { outgoing } = this.#deps;
      outgoing.begin(this.#parts.turn.socket, chunk.length + ADDED_BYTES);
      const state = feed(this.#reader, this.#body, chunk);
      outgoing.send();
      this.#goOn(this.#head, state);
      return;
    }
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = received.indexOf(HEAD_END);
    const bodyAt = end + HEAD_END.length;
    if (end !== -1 && bodyAt <= HEAD_BYTES_MAX) this.#begin(received, bodyAt);
    else if (received.length > HEAD_BYTES_MAX || isNoHead(received)) this.#leaveOdd();
    else this.#received = Buffer.from(received);
  }

  /** @param bodyAt where the body begins in what was received */
  #begin(received: Buffer, bodyAt: number): void {
    const { turn, request, target, originTurn } = this.#parts;
    const head = readAnswerHead(received.toString('latin1', 0, bodyAt));
    if (head === null || (head.status === NOT_MODIFIED && !asksForChange(request))) {
      this.#leaveOdd();
      return;
    }
    const reader = createBodyReader(head.framing);
    const pieces: Buffer[] = [];
    const state = reader.read(received.subarray(bodyAt), (piece) => void pieces.push(piece));
    if (state === 'broken') {
      this.#leaveOdd();
      return;
    }
    this.#received = NOTHING;
    if (this.#timer !== null) clearTimeout(this.#timer);
    originTurn.end('ok');
    this.#keepsAlive = turn.keepsAlive();
    const { outgoing, pseudonym } = this.#deps;
    outgoing.begin(turn.socket, received.length + ADDED_BYTES);
    const keepAliveMs = this.#keepAliveMs();
    const body = beginAnswer(head, { outgoing, target, pseudonym, keepAliveMs });
    for (const piece of pieces) body.write(piece);
    if (state === 'whole') body.end(reader.trailers());
    outgoing.send();
    this.#head = head;
    this.#reader = reader;
    this.#body = body;
    this.#goOn(head, state);
  }

  #goOn(head: OriginHead, state: BodyState): void {
    const { turn, link } = this.#parts;
    if (state === 'whole') this.#finish(head);
    else if (state === 'broken') this.#cut(head);
    else if (turn.socket.writableLength > UNREAD_BYTES_MAX) {
      link.pause();
      turn.socket.once('drain', () => link.resume());
    }
  }

  #finish(head: OriginHead): void {
    const { link } = this.#parts;
    this.#stop();
    this.#settle(this.#answered(head));
    // Last: what the client has asked meanwhile goes over another one, or what the origin may still
    // be sending would be read as the answer.
    if (head.keepsAlive && this.#reader?.hasRest() !== true) link.keep();
    else link.destroy();
  }

  /** An answer that was cut for us is cut for the client: a clean end would make it whole. */
  #cut(head: OriginHead): void {
    const { turn, link } = this.#parts;
    this.#stop();
    link.destroy();
    turn.socket.destroy();
    this.#tell(this.#answered(head), true);
  }

  onClosed(isBroken: boolean): void {
    if (this.#hasNoReader()) return;
    if (this.#head === null) this.#endUnanswered();
    else if (!isBroken && this.#reader?.end() === true) {
      const { outgoing } = this.#deps;
      outgoing.begin(this.#parts.turn.socket, ADDED_BYTES);
      this.#body?.end([]);
      outgoing.send();
      this.#finish(this.#head);
    } else this.#cut(this.#head);
  }

  #endUnanswered(): void {
    const { link } = this.#parts;
    // Nobody has worked on the request; else it is not asked for again.
    if (!link.isConnected()) this.#leave('failed');
    else if (link.isReused && this.#received.length === 0) this.#leave('busy');
    else this.#fail(new BypassError('connection_terminated', 'closed without an answer'));
  }

  #leaveOdd(): void {
    this.#deps.noteOdd(this.#parts.target.originUrl);
    this.#leave('busy');
  }

  /** Nothing has gone to the client yet: the long way asks again, and tells what there is. */
  #leave(how: 'failed' | 'busy'): void {
    const { turn, originTurn, link } = this.#parts;
    this.#stop();
    originTurn.end(how);
    link.destroy();
    turn.leave();
  }

  /** Whoever has ended its side gets no answer; `close` follows. */
  #hasNoReader(): boolean {
    const { socket } = this.#parts.turn;
    if (socket.writable) return false;
    socket.destroy();
    return true;
  }

  #endClient(): void {
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
  }

  #timeOut(): void {
    const isConnected = this.#parts.link.isConnected();
    if (isConnected) this.#fail(new BypassError('http_response_timeout', 'no answer in time'));
    else this.#fail(new BypassError('connection_timeout', 'no connection in time'));
  }

  #fail(error: BypassError): void {
    if (this.#hasNoReader()) return;
    const { turn, target, originTurn, link } = this.#parts;
    this.#stop();
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
    if (this.#keepsAlive && client.writableLength === 0) this.#tell(outcome, false);
    else client.write(NOTHING, (error) => this.#tell(outcome, Boolean(error)));
    if (!this.#keepsAlive) client.end();
    turn.end();
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#parts.turn.onGone(null);
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

/** Whether what has come so far can't be the beginning of a head that the lane reads. */
function isNoHead(received: Buffer): boolean {
  if (!HEAD_START.startsWith(received.toString('latin1', 0, HEAD_START.length))) return true;
  for (let at = received.indexOf(LF); at !== -1; at = received.indexOf(LF, at + 1)) {
    if (received[at - 1] !== CR) return true;
  }
  return false;
}

/** Whether 304 is an answer to it. */
function asksForChange({ head }: LaneRequest): boolean {
  const asks = (name: string): boolean => fieldValues(head.fields, name).length > 0;
  return head.isConditional && (asks('if-none-match') || asks('if-modified-since'));
}

function failed({ type, status, message }: BypassError, target: BypassTarget): BypassOutcome {
  return { originUrl: target.originUrl, status, error: type, detail: message };
}

function feed(reader: BodyReader, body: PassedBody, chunk: Buffer): BodyState {
  const state = reader.read(chunk, body.write);
  if (state === 'whole') body.end(reader.trailers());
  return state;
}

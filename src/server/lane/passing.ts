// One request that is passed on from socket to socket: its head written anew, the answer's head
// written anew, the body as it comes.
import { fieldValues } from '../../core/http/hop-headers.ts';
import { CUT_BEHIND_HEAD } from '../../core/http/origin-failure.ts';
import { LIMITS } from '../../core/limits.ts';
import type { LinkListener, OriginLink, OriginTurn } from '../../pipeline/origin-ports.ts';
import { formatError } from '../bypass/answer-error.ts';
import { BypassError } from '../bypass/bypass-error.ts';
import type { BypassOutcome, BypassTarget } from '../bypass/ports.ts';
import type { LaneTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import { type Passable, upstreamHead } from './address-request.ts';
import { finishedRequest } from './finished-request.ts';
import type { LaneRequest } from './lane-plans.ts';
import type { Outgoing } from './outgoing.ts';
import { type RelayedAnswer, relayAnswer } from './relayed-answer.ts';
import { formatHead } from './write-passed.ts';

/** What one request on its way is made of. */
export interface PassingParts {
  readonly turn: LaneTurn;
  readonly request: LaneRequest;
  readonly plan: Passable;
  readonly target: BypassTarget;
  readonly originTurn: OriginTurn;
  readonly link: OriginLink;
}

export interface PassingDeps extends Pick<GatewayDeps, 'onFinished' | 'pseudonym'> {
  readonly outgoing: Outgoing;
  readonly keepAliveTimeoutMs: number;
  /** The lane can't read what this origin answers. */
  readonly noteOdd: (originUrl: string) => void;
}

/** What a client has not read yet, before its origin has to wait. */
const UNREAD_BYTES_MAX = 65_536;
const CHANGE_CONDITIONS = ['if-none-match', 'if-modified-since'];
const HEAD_START = 'HTTP/1.1 ';
const HEAD_END = '\r\n\r\n';
const CR = 13;
const LF = 10;
const NOTHING: Buffer = Buffer.alloc(0);

/** It lasts until the answer is written, or left to the long way. */
export class Passing implements LinkListener {
  readonly #parts: PassingParts;
  readonly #deps: PassingDeps;
  #timer: NodeJS.Timeout | null = null;
  /** What has come before the head of the answer is whole. */
  #received = NOTHING;
  #answer: RelayedAnswer | null = null;
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
    if (this.#answer !== null) {
      this.#answer.read(chunk);
      this.#goOn(this.#answer);
      return;
    }
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = received.indexOf(HEAD_END);
    const bodyAt = end + HEAD_END.length;
    if (end !== -1 && bodyAt <= LIMITS.originHeadBytesMax) this.#begin(received, bodyAt);
    else if (received.length > LIMITS.originHeadBytesMax || isNoHead(received)) this.#leaveOdd();
    else this.#received = Buffer.from(received);
  }

  onClosed(isBroken: boolean): void {
    if (this.#hasNoReader()) return;
    if (this.#answer === null) {
      this.#endUnanswered();
      return;
    }
    if (!isBroken) this.#answer.end();
    if (this.#answer.state === 'whole') this.#finish(this.#answer);
    else this.#cut(this.#answer);
  }

  /** @param bodyAt where the body begins in what was received */
  #begin(received: Buffer, bodyAt: number): void {
    const { turn, request, target, originTurn } = this.#parts;
    const { outgoing, pseudonym } = this.#deps;
    this.#keepsAlive = turn.keepsAlive();
    const answer = relayAnswer(received, bodyAt, {
      client: turn.socket,
      outgoing,
      target,
      pseudonym,
      keepAliveMs: this.#keepAliveMs(),
      asksForChange: asksForChange(request),
    });
    if (answer === null) {
      this.#leaveOdd();
      return;
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    originTurn.end('ok');
    this.#received = NOTHING;
    this.#answer = answer;
    this.#goOn(answer);
  }

  #goOn(answer: RelayedAnswer): void {
    const { turn, link } = this.#parts;
    if (answer.state === 'whole') this.#finish(answer);
    else if (answer.state === 'broken') this.#cut(answer);
    else if (turn.socket.writableLength > UNREAD_BYTES_MAX) {
      link.pause();
      turn.socket.once('drain', () => link.resume());
    }
  }

  #finish(answer: RelayedAnswer): void {
    const { link } = this.#parts;
    this.#stop();
    this.#settle(this.#answered(answer));
    // Last: what the client has asked meanwhile goes over another one, or what the origin may still
    // be sending would be read as the answer.
    if (answer.leavesLinkClean) link.keep();
    else link.destroy();
  }

  /** An answer that was cut for us is cut for the client: a clean end would make it whole. */
  #cut(answer: RelayedAnswer): void {
    const { turn, link } = this.#parts;
    this.#stop();
    link.destroy();
    turn.socket.destroy();
    this.#tell({ ...this.#answered(answer), ...CUT_BEHIND_HEAD }, true);
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
    if (this.#answer !== null) {
      this.#tell(this.#answered(this.#answer), true);
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

  #answered({ status }: RelayedAnswer): BypassOutcome {
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
  if (!head.isConditional) return false;
  return CHANGE_CONDITIONS.some((name) => fieldValues(head.fields, name).length > 0);
}

function failed({ type, status, message }: BypassError, target: BypassTarget): BypassOutcome {
  return { originUrl: target.originUrl, status, error: type, detail: message };
}

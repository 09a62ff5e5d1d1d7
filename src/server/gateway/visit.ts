// What is kept beside a request from its first to its last byte, for the one log line and the
// metrics, and for the origin's turn that has to end exactly once.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fieldValues } from '../../core/http/hop-headers.ts';
import type { OriginHealth } from '../../core/http/pick-upstream.ts';
import { describeFlaw, describeLeft } from '../../pipeline/describe-answer.ts';
import type { OriginTurn } from '../../pipeline/origin-ports.ts';
import type { Keyed, RequestRecord, StreamedBody } from '../../pipeline/state.ts';
import { BypassError } from '../bypass/bypass-error.ts';
import type { BypassOutcome, InnerRequest } from '../bypass/ports.ts';
import { receiveRequest, type Visitor } from './receive-request.ts';

const CLIENT_LEFT = new BypassError('client_left', 'the client left');

export interface Visit {
  readonly visitor: Visitor;
  /** What goes to the origin where it is not the request itself. */
  readonly inner: InnerRequest | null;
  readonly userAgent: string;
  readonly startedAtMs: number;
  /** What is waited for, until `record` tells what came of it. */
  awaited: Keyed | null;
  record: RequestRecord | null;
  /** What `record` does not know yet. */
  streamed: StreamedBody | null;
  bypass: BypassOutcome | null;
  turn: OriginTurn | null;
}

/** One finished request, for log and metrics. */
export interface FinishedRequest {
  /** null: it never reached the pipeline (a loop, a defect). */
  readonly record: RequestRecord | null;
  readonly requestId: string;
  readonly method: string;
  readonly clientAddress: string;
  readonly userAgent: string;
  readonly status: number;
  readonly durationMs: number;
  /** The client left before the answer was complete. */
  readonly isAborted: boolean;
  readonly bypass: BypassOutcome | null;
}

/** @param requestTarget raw, in origin form */
export function beginVisit(
  request: IncomingMessage,
  requestTarget: string,
  isTrustedPeer: (address: string) => boolean,
): Visit {
  return openVisit(request, receiveRequest(request, requestTarget, isTrustedPeer), null);
}

/** For a visitor that was read in another way than from the request line. */
export function openVisit(
  request: IncomingMessage,
  visitor: Visitor,
  inner: InnerRequest | null,
): Visit {
  return {
    visitor,
    inner,
    userAgent: fieldValues(request.rawHeaders, 'user-agent')[0] ?? '',
    startedAtMs: performance.now(),
    awaited: null,
    record: null,
    streamed: null,
    bypass: null,
    turn: null,
  };
}

/** An origin answered, or failed to. */
export function settleBypass(visit: Visit | undefined, outcome: BypassOutcome): void {
  if (visit === undefined) return;
  visit.bypass = outcome;
  endTurn(visit, howItWent(outcome));
}

/** @param response null for an upgrade, whose answer went out on the bare socket */
export function finishVisit(visit: Visit, response: ServerResponse | null): FinishedRequest {
  // Left open only when the client went away before the origin said anything.
  if (visit.turn !== null) settleBypass(visit, leftBy(visit.turn));
  const { client, address } = visit.visitor;
  const left = visit.record === null && visit.awaited !== null ? describeLeft(visit.awaited) : null;
  return {
    record: recordOf(visit) ?? left,
    requestId: client.requestId,
    method: client.method,
    clientAddress: address,
    userAgent: visit.userAgent,
    status: left === null ? statusOf(visit, response) : CLIENT_LEFT.status,
    durationMs: performance.now() - visit.startedAtMs,
    isAborted: response !== null && !response.writableFinished,
    bypass: visit.bypass,
  };
}

function recordOf({ record, streamed }: Visit): RequestRecord | null {
  const flaw = streamed?.flaw() ?? null;
  return record === null || flaw === null ? record : describeFlaw(record, flaw);
}

function statusOf({ bypass }: Visit, response: ServerResponse | null): number {
  return bypass?.status ?? response?.statusCode ?? 0;
}

function leftBy({ originUrl }: OriginTurn): BypassOutcome {
  const { type, status, message } = CLIENT_LEFT;
  return { originUrl, status, error: type, detail: message };
}

/** A client that left says nothing about the origin. */
function howItWent({ error }: BypassOutcome): OriginHealth {
  if (error === null) return 'ok';
  return error === 'client_left' ? 'busy' : 'failed';
}

function endTurn(visit: Visit, how: OriginHealth): void {
  visit.turn?.end(how);
  visit.turn = null;
}

// Deliver: answers that need no page, in a few words; nothing in front may keep them.
import type { Decision } from '../core/decision/decision.ts';
import { isOriginFailure } from '../core/http/origin-failure.ts';
import { textHeaders, troubleText } from '../core/http/plain-text.ts';
import {
  answerForFailure,
  type FetchFailure,
  formatProxyStatus,
} from '../core/http/proxy-status.ts';
import { statusText } from '../core/http/status-text.ts';
import type { StatusAnswer } from '../core/policy/policy.ts';
import { describe } from './describe-answer.ts';
import type { HeaderList } from './ports.ts';
import type { Delivery, Keyed, Received, RequestRecord } from './state.ts';

const RETRY_AFTER_SECONDS = '5';

/** The answer of a status rule, a redirect, a refused URL, or a host that is not here. */
export function answerStatus(received: Received, decision: Decision): Delivery {
  const status: StatusAnswer = decision.status ?? { code: 403, reason: null, headers: [] };
  const isRedirect = status.code >= 300 && status.code < 400;
  const text = isRedirect ? '' : describeStatus(status);
  const { record, headers } = describe(received, decision, {
    source: 'status',
    cache: 'none',
    detail: decision.error,
  });
  return {
    kind: 'answer',
    record,
    answer: {
      status: status.code,
      headers: [...status.headers, ...textHeaders(text), ...headers],
      body: received.request.method === 'HEAD' ? null : Buffer.from(text),
    },
  };
}

export interface Failure {
  readonly reason: FetchFailure;
  /** For the log only. */
  readonly detail: string;
  readonly isCollapsed?: boolean;
  readonly originUrl?: string | null;
}

/**
 * A page that could not be got, and for which nothing else is left to serve. What an origin did not
 * answer is told as if it had been passed on by the plain way.
 */
export function answerFailure(
  keyed: Keyed,
  { reason, detail, isCollapsed = false, originUrl = null }: Failure,
): Delivery {
  const { status } = answerForFailure(reason);
  const extra: HeaderList = [
    ['Proxy-Status', formatProxyStatus(reason)],
    ...(status === 503 ? ([['Retry-After', RETRY_AFTER_SECONDS]] as const) : []),
  ];
  const failure = isOriginFailure(reason) ? { error: reason, detail } : null;
  return answerTrouble(keyed, { status, extra, detail: reason, failure, isCollapsed, originUrl });
}

/** The client wants a stored answer or none, and there is none. */
export function answerNotCached(keyed: Keyed): Delivery {
  return answerTrouble(keyed, { status: 504, extra: [], detail: 'only_if_cached' });
}

/** Too many requests wait for this one page already. */
export function answerOverload(keyed: Keyed): Delivery {
  const extra: HeaderList = [['Retry-After', RETRY_AFTER_SECONDS]];
  return answerTrouble(keyed, { status: 503, extra, detail: 'waiters_limit' });
}

interface TroubleAnswer {
  readonly status: number;
  readonly extra: HeaderList;
  readonly detail: string;
  readonly failure?: RequestRecord['failure'];
  readonly isCollapsed?: boolean;
  readonly originUrl?: string | null;
}

function answerTrouble(keyed: Keyed, trouble: TroubleAnswer): Delivery {
  const { status, extra, detail, failure = null, isCollapsed, originUrl = null } = trouble;
  const { record, headers } = describe(keyed, keyed.decision, {
    source: failure === null ? 'status' : 'bypass',
    cache: 'miss',
    forward: 'uri-miss',
    isCollapsed,
    detail,
    originUrl,
    failure,
  });
  const text = troubleText(status, keyed.request.requestId);
  const fields = [...textHeaders(text), ...extra, ...headers];
  return { kind: 'answer', record, answer: { status, headers: fields, body: Buffer.from(text) } };
}

function describeStatus({ code, reason }: StatusAnswer): string {
  return reason === null ? `${statusText(code)}\n` : `${statusText(code)}: ${reason}\n`;
}

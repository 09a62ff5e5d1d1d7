// What the pull listener says itself, in the words of the contract it was asked by: the reference
// engine's texts, or the prerender contract's statuses and reject reasons.
import type { HeaderList } from '../../pipeline/ports.ts';
import type { Answer, Delivery } from '../../pipeline/state.ts';
import { plainAnswer } from '../gateway/plain-answer.ts';
import type { PullContract } from './read-pull.ts';

const REJECT_FIELD = 'X-Prerender-Reject-Reason';

export type PullRefusal = 'not_found' | 'method' | 'url' | 'missing' | 'refused' | 'loop';

interface Wording {
  readonly status: number;
  readonly text: string;
  readonly headers?: HeaderList;
}

/** One answer for every failed authentication: it must not tell which hosts there are. */
const UNAUTHORIZED: Wording = {
  status: 401,
  text: 'Authentication failed: unknown host or wrong key',
  headers: [['WWW-Authenticate', 'X-Render-Key']],
};

const RENDER: Readonly<Record<PullRefusal, Wording>> = {
  not_found: { status: 404, text: 'Endpoint not found', headers: [[REJECT_FIELD, 'url-invalid']] },
  method: { status: 405, text: 'Method not allowed', headers: [['Allow', 'GET, HEAD']] },
  url: { status: 400, text: 'Invalid URL: write ?url= and an absolute http or https URL' },
  missing: UNAUTHORIZED,
  refused: UNAUTHORIZED,
  loop: { status: 508, text: 'Loop detected: this is a request of a render' },
};

const PRERENDER: Readonly<Record<PullRefusal, Wording>> = {
  ...RENDER,
  url: { status: 404, text: 'Invalid URL', headers: [[REJECT_FIELD, 'url-invalid']] },
  missing: {
    status: 403,
    text: 'Authentication failed: no token',
    headers: [[REJECT_FIELD, 'no-x-prerender-token-provided']],
  },
  refused: {
    ...UNAUTHORIZED,
    headers: [
      ['WWW-Authenticate', 'X-Prerender-Token'],
      [REJECT_FIELD, 'invalid-x-prerender-token-provided'],
    ],
  },
};

/** The answer to a request that never reaches the pipeline. */
export function refusePull(
  refusal: PullRefusal,
  contract: PullContract,
  requestId: string,
): Answer {
  const { status, text, headers = [] } = (contract === 'render' ? RENDER : PRERENDER)[refusal];
  const own: HeaderList = contract === 'render' ? [] : [requestIdField(requestId)];
  return plainAnswer(status, requestId, { text, headers: [...headers, ...own] });
}

/** Health and readiness; why it is not ready is for the admin listener alone. */
export function answerHealth(kind: 'health' | 'ready', isWell: boolean): Answer {
  const well = kind === 'health' ? 'ok' : 'ready';
  const body = Buffer.from(`${JSON.stringify({ status: isWell ? well : 'not ready' })}\n`);
  return {
    status: isWell ? 200 : 503,
    headers: [
      ['Content-Type', 'application/json'],
      ['Content-Length', String(body.length)],
      ['Cache-Control', 'no-store'],
    ],
    body,
  };
}

/** Adds what the prerender contract wants on every answer, and the reason on our own failures. */
export function dressForPrerender(delivery: Delivery): Delivery {
  const { record } = delivery;
  const field = requestIdField(record.requestId);
  if (delivery.kind === 'bypass') return { ...delivery, headers: [...delivery.headers, field] };
  const { answer } = delivery;
  const isOurs = record.source === 'status' || record.failure !== null;
  const isFailure = isOurs && answer.status >= 400 && record.detail !== null;
  const reason = isFailure ? [[REJECT_FIELD, record.detail ?? ''] as const] : [];
  return { ...delivery, answer: { ...answer, headers: [...answer.headers, field, ...reason] } };
}

function requestIdField(requestId: string): readonly [string, string] {
  return ['X-Prerender-RequestId', requestId];
}

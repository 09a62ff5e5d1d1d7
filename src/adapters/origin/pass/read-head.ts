// From the head of an origin's answer to what may be passed on and kept: end-to-end fields only,
// no inner address, nothing whose framing can't be trusted.
import { fieldMembers, firstHeader, type HeaderList } from '../../../core/http/header-list.ts';
import { hopNames } from '../../../core/http/hop-headers.ts';
import { returnResponseHeaders } from '../../../core/http/returned-headers.ts';
import { toPairs } from '../../../core/http/to-pairs.ts';
import type { OriginAnswer, PassJob } from '../../../pipeline/origin-ports.ts';
import { splitTarget } from '../fill/build-fill-request.ts';
import { PageRefused } from '../fill/read-page.ts';
import type { ReceivedAnswer } from './receive-answer.ts';

/** What keeping depends on: naming these in `Connection` must not make them vanish before. */
const DECISIVE = ['age', 'cdn-cache-control', 'date', 'expires', 'pragma', 'vary'];
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Throws PageRefused for what can't be passed on as it is (RFC 9112 §6.3). */
export function readHead(
  { status, reason, headers: raw, body, trailers }: ReceivedAnswer,
  job: PassJob,
  originUrl: string,
): OriginAnswer {
  const codings = fieldMembers(raw, 'transfer-encoding').map((coding) => coding.toLowerCase());
  if (codings.length > 0 && codings.join() !== 'chunked') {
    throw new PageRefused('http_protocol_error', 'transfer_coding');
  }
  if (status === NOT_MODIFIED && !isConditional(job.headers)) {
    throw new PageRefused('http_protocol_error', 'status');
  }
  const isEmpty = status === NO_CONTENT || status === NOT_MODIFIED;
  return {
    status,
    reason,
    headers: returnHeaders(raw, job, { originUrl, status }),
    body,
    trailers,
    isDelimited: isEmpty || codings.length > 0 || firstHeader(raw, 'content-length') !== null,
  };
}

function returnHeaders(
  raw: HeaderList,
  { host, url }: PassJob,
  { originUrl, status }: { readonly originUrl: string; readonly status: number },
): HeaderList {
  const { authority } = splitTarget(url);
  const flat = raw.flat();
  const returned = returnResponseHeaders(flat, {
    pseudonym: null,
    httpVersion: '1.1',
    originUrl,
    hostHeader: host.originHostHeader ?? authority,
    scheme: host.scheme,
    publicHost: authority,
    hasLength: status !== NO_CONTENT,
    hasTrailers: false,
  });
  const dropped = hopNames(flat);
  const kept = raw.filter(([name]) => {
    const folded = name.toLowerCase();
    return dropped.has(folded) && DECISIVE.includes(folded);
  });
  return [...toPairs(returned), ...kept];
}

function isConditional(headers: HeaderList): boolean {
  return ['if-none-match', 'if-modified-since'].some((name) => firstHeader(headers, name) !== null);
}

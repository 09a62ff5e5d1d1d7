// From the head of an origin's answer to what may be passed on and kept: end-to-end fields only,
// no inner address, nothing whose framing can't be trusted.
import type { Dispatcher } from 'undici';
import { firstHeader, type HeaderList, listMembers } from '../../../core/http/header-list.ts';
import { hopNames } from '../../../core/http/hop-headers.ts';
import { returnResponseHeaders } from '../../../core/http/returned-headers.ts';
import type { OriginAnswer, PassJob } from '../../../pipeline/origin-ports.ts';
import { splitTarget } from '../fill/build-fill-request.ts';
import { PageRefused } from '../fill/read-page.ts';

/** What keeping depends on: naming these in `Connection` must not make them vanish before. */
const DECISIVE = ['age', 'cdn-cache-control', 'date', 'expires', 'pragma', 'vary'];
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Throws PageRefused for what can't be passed on as it is (RFC 9112 §6.3). */
export function readHead(
  response: Dispatcher.ResponseData,
  job: PassJob,
  originUrl: string,
): OriginAnswer {
  const { statusCode: status, statusText, body, trailers } = response;
  const raw = toPairs(response.headers);
  const codings = listMembers(raw, 'transfer-encoding').map((coding) => coding.toLowerCase());
  if (codings.length > 0 && codings.join() !== 'chunked') {
    throw new PageRefused('origin_invalid', 'transfer_coding');
  }
  if (status === NOT_MODIFIED && !isConditional(job.headers)) {
    throw new PageRefused('origin_invalid', 'status');
  }
  const isEmpty = status === NO_CONTENT || status === NOT_MODIFIED;
  return {
    status,
    reason: statusText,
    headers: returnHeaders(raw, job, { originUrl, status }),
    body,
    trailers: () => Object.entries(trailers),
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
    pseudonym: '',
    httpVersion: '1.1',
    originUrl,
    hostHeader: host.originHostHeader ?? authority,
    scheme: host.scheme,
    publicHost: authority,
    hasLength: status !== NO_CONTENT,
    hasTrailers: false,
  });
  const dropped = hopNames(flat);
  // The last pair is our own Via, which is written with every answer that came through us.
  return [
    ...toPairs(returned.slice(0, -2)),
    ...raw.filter(([name]) => {
      const folded = name.toLowerCase();
      return DECISIVE.includes(folded) && dropped.has(folded);
    }),
  ];
}

function isConditional(headers: HeaderList): boolean {
  return ['if-none-match', 'if-modified-since'].some((name) => firstHeader(headers, name) !== null);
}

/** undici types a raw list as a record; it is names and values in turn, as latin1 text. */
export function toPairs(headers: unknown): HeaderList {
  if (!Array.isArray(headers)) throw new Error('raw headers were asked for');
  const pairs: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    pairs.push([String(headers[i]), String(headers[i + 1])]);
  }
  return pairs;
}

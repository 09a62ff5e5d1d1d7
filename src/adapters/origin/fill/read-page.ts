// From an origin's answer to a Page: what may be believed, what is decoded, what is dropped.
// Anything whose framing or length can't be trusted is `http_protocol_error`.
import type { Dispatcher } from 'undici';
import { filterEndToEnd } from '../../../core/http/filter-headers.ts';
import { fieldMembers, firstHeader, type HeaderList } from '../../../core/http/header-list.ts';
import { isDelimited } from '../../../core/http/is-delimited.ts';
import { encodeLatin1Location, publishLocation } from '../../../core/http/location.ts';
import { toPairsUntyped } from '../../../core/http/to-pairs.ts';
import type { FetchFailure, Page } from '../../../pipeline/ports.ts';
import { knownCodings, readBody } from './read-body.ts';

/** An answer that isn't a page, with the reason for it. */
export class PageRefused extends Error {
  readonly reason: FetchFailure;

  constructor(reason: FetchFailure, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

export interface PageSettings {
  readonly pageBytesMax: number;
  /** Addresses that only we know the origin by, and the one the client knows. */
  readonly innerOrigins: readonly string[];
  readonly publicOrigin: string;
}

/** Fields that speak of the bytes on the wire, and are wrong once those are decoded. */
const ENCODED_FIELDS = ['content-encoding', 'content-digest', 'content-md5', 'digest'];

/** Reads the answer to its end. Throws PageRefused, or the stream's error. */
export async function readPage(
  answer: Dispatcher.ResponseData,
  settings: PageSettings,
): Promise<Page> {
  const raw = toPairsUntyped(answer.headers);
  const { statusCode: status, body: stream } = answer;
  refuseUnlessSound(status, raw);
  const codings = knownCodings(fieldMembers(raw, 'content-encoding'));
  if (codings === null) throw new PageRefused('http_protocol_error', 'content_coding');
  const length = firstHeader(raw, 'content-length');
  if (Number(length ?? 0) > settings.pageBytesMax) throw new PageRefused('too_large', 'length');
  const hasBody = status !== 204 && status !== 205;
  const body = hasBody ? await readBody(stream, codings, settings.pageBytesMax) : Buffer.alloc(0);
  const isWhole = !hasBody || isDelimited(raw.map(([name]) => name));
  return {
    status,
    headers: publishHeaders(raw, codings.length > 0, settings),
    body,
    source: 'origin',
    completeness: isWhole ? 'complete' : 'partial',
  };
}

/** We asked for no part and set no condition, and no coding but chunked frames a message. */
function refuseUnlessSound(status: number, raw: HeaderList): void {
  if (status < 200 || status > 599 || status === 206 || status === 304) {
    throw new PageRefused('http_protocol_error', 'status');
  }
  const framing = fieldMembers(raw, 'transfer-encoding').map((coding) => coding.toLowerCase());
  if (framing.length > 0 && framing.join() !== 'chunked') {
    throw new PageRefused('http_protocol_error', 'transfer_coding');
  }
}

function publishHeaders(raw: HeaderList, isDecoded: boolean, settings: PageSettings): HeaderList {
  const headers: (readonly [string, string])[] = [];
  for (const [name, value] of filterEndToEnd(raw)) {
    const folded = name.toLowerCase();
    if (isDecoded && ENCODED_FIELDS.includes(folded)) continue;
    if (folded === 'etag' && isDecoded) headers.push([name, value.replace(/^"/, 'W/"')]);
    else if (folded === 'location') headers.push([name, publish(value, settings)]);
    else headers.push([name, value]);
  }
  return headers;
}

function publish(location: string, settings: PageSettings): string {
  const encoded = encodeLatin1Location(location);
  if (encoded === null) throw new PageRefused('http_protocol_error', 'location');
  return publishLocation(encoded, settings.innerOrigins, settings.publicOrigin);
}

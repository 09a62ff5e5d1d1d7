// The door's whole judgement on one request head, as a pure function over what was on the wire.
// Runs before routing: what it refuses is never keyed, logged by path or sent to an origin.
import { METHODS } from 'node:http';
import { fieldValues, type RawHeaders } from '../../core/http/hop-headers.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { checkFraming } from './check-framing.ts';
import { parseAuthority } from './check-host.ts';
import { checkTarget } from './check-target.ts';
import type { RefusalReason } from './refusals.ts';

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** As in the request line; `2.0` only when the connection really speaks HTTP/2. */
  readonly httpVersion: string;
  readonly rawHeaders: RawHeaders;
  readonly isHttp2: boolean;
}

export interface HeadLimits {
  readonly headerFieldsMax: number;
  readonly urlBytesMax: number;
}

const TEXT_VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

/** What the HTTP/1.1 parser knows; an HTTP/2 client can write anything. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/** TRACE reflects credentials, CONNECT tunnels, PURGE belongs to the admin listener alone. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'PURGE']);

/** The target in origin form, or why the request is turned away. */
export function checkRequest(head: RequestHead, limits: HeadLimits): Result<string, RefusalReason> {
  if (!head.isHttp2 && !TEXT_VERSIONS.has(head.httpVersion)) return err('version');
  if (head.rawHeaders.length / 2 > limits.headerFieldsMax) return err('header_fields');
  if (!KNOWN_METHODS.has(head.method)) return err('unknown_method');
  if (REFUSED_METHODS.has(head.method)) return err('method');
  const framing = checkFraming(head.rawHeaders, head.httpVersion);
  if (framing !== null) return err(framing);

  const hosts = fieldValues(head.rawHeaders, 'host');
  const [hostText] = hosts;
  if (hostText === undefined) return err('host_missing');
  if (hosts.length > 1) return err('host_repeated');
  const host = parseAuthority(hostText);
  if (host === null) return err('host_malformed');

  if (head.target.length > limits.urlBytesMax) return err('target_length');
  const target = checkTarget(head.method, head.target, host);
  return target.ok ? ok(target.value) : target;
}

// Where a request that reaches the egress wants to go: by its absolute URL, or by the tunnel that
// it came through.
import type { IncomingMessage } from 'node:http';
import type { PublicTarget } from '../options.ts';

export interface Destination {
  /** As a Host field has it. */
  readonly authority: string;
  readonly target: PublicTarget;
  /** Path and query, as text. */
  readonly path: string;
}

/** @param tunnel authority of the tunnel, for a request inside one */
export function locate(request: IncomingMessage, tunnel: string | undefined): Destination | null {
  const url = request.url ?? '';
  const [, absolute, rest] = /^http:\/\/([^/?#@]+)(\/.*)$/s.exec(url) ?? [];
  const authority = tunnel ?? absolute;
  const path = tunnel === undefined ? rest : url;
  if (authority === undefined || path === undefined || !path.startsWith('/')) return null;
  const target = parseAuthority(authority);
  // The port that the scheme implies is not written in a Host field.
  return target === null
    ? null
    : { authority: authority.replace(/:(?:80|443)$/, ''), target, path };
}

/** `name:port`, `1.2.3.4:port` or `[address]:port`; null for anything else. */
export function parseAuthority(text: string): PublicTarget | null {
  const [, bracketed, plain, port] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  return host === undefined ? null : { host, port: Number(port ?? 80) };
}

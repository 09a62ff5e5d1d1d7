// Which request targets are taken, and in which form they go on (RFC 9112 §3.2). Only what can be
// misread is refused; odd but unambiguous paths (`//x`, `/a%`, `/..;/`) stay byte for byte.
import { err, ok, type Result } from '../../core/result.ts';
import { type Authority, parseAuthority } from './check-host.ts';
import type { RefusalReason } from './refusals.ts';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * The target in origin form.
 *
 * @param target as received
 * @param host the parsed Host field, which an absolute target must agree with
 */
export function checkTarget(
  method: string,
  target: string,
  host: Authority,
): Result<string, RefusalReason> {
  if (hasForbiddenByte(target)) return err('target_bytes');
  if (target === '*') return method === 'OPTIONS' ? ok(target) : err('target_form');
  const originForm = target.startsWith('/') ? target : originFormOf(target, host);
  if (originForm === null) return err('target_form');
  return pathOf(originForm).includes('%00') ? err('target_bytes') : ok(originForm);
}

/**
 * Controls, spaces, bytes above ASCII (RFC 9112 §3.2), and a raw `#`, which starts a fragment for
 * some readers and is part of the path for others.
 */
function hasForbiddenByte(target: string): boolean {
  return /[^!-~]|#/.test(target);
}

function originFormOf(target: string, host: Authority): string | null {
  const parts = /^(https?):\/\/([^/?]*)(.*)$/i.exec(target);
  if (parts === null) return null;
  const [, scheme = '', authorityText = '', rest = ''] = parts;
  const authority = parseAuthority(authorityText);
  if (authority === null || authority.name !== host.name) return null;
  const defaultPort = DEFAULT_PORTS[scheme.toLowerCase()] ?? null;
  if ((authority.port ?? defaultPort) !== (host.port ?? defaultPort)) return null;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function pathOf(target: string): string {
  const queryStart = target.indexOf('?');
  return queryStart === -1 ? target : target.slice(0, queryStart);
}

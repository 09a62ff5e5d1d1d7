// `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` or a bare port. Port 0 lets the system
// choose, which tests need.
import { isIP, isIPv6 } from 'node:net';
import { err, ok, type Result } from '../../core/result.ts';
import type { Fault } from '../config-node.ts';
import type { ListenAddress } from '../settings.ts';

const EXAMPLES = 'write :8080, 127.0.0.1:8080 or "[::1]:8080"';
const ADDRESS = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/;
const HOST_NAME = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const ALL_INTERFACES = '0.0.0.0';

export function parseListen(value: unknown): Result<ListenAddress, Fault> {
  const text = typeof value === 'number' ? `:${value}` : value;
  if (typeof text !== 'string') return err({ message: 'not a listen address', hint: EXAMPLES });
  const match = ADDRESS.exec(/^\d+$/.test(text) ? `:${text}` : text.trim());
  if (match === null) return err({ message: 'not a listen address', hint: EXAMPLES });
  const [, bracketed, plain = '', digits = ''] = match;
  const port = Number(digits);
  if (port > 65_535) return err({ message: `port ${port} is above 65535`, hint: EXAMPLES });
  if (bracketed !== undefined) {
    if (isIPv6(bracketed)) return ok({ host: bracketed, port });
    return err({ message: 'not an IPv6 address between the brackets', hint: EXAMPLES });
  }
  const host = plain === '' || plain === '*' ? ALL_INTERFACES : plain;
  if (isIP(host) === 0 && (!HOST_NAME.test(host) || /^[\d.]+$/.test(host))) {
    return err({ message: 'not an address or host name before the port', hint: EXAMPLES });
  }
  return ok({ host, port });
}

/** Whether only this machine can reach the address. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/** Whether two listeners would take each other's port. */
export function isSameListener(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port !== b.port || a.port === 0) return false;
  return a.host === b.host || isWildcard(a) || isWildcard(b);
}

function isWildcard({ host }: ListenAddress): boolean {
  return host === ALL_INTERFACES || host === '::';
}

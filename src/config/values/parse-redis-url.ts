// Where Redis is: a URL with everything in it, or host and port.
import { isIPv6 } from 'node:net';
import { err, ok, type Result } from '../../core/result.ts';
import type { Fault } from '../config-node.ts';

const URL_EXAMPLE = 'write redis://[user:password@]host:port/db, or rediss:// for TLS';
const HOST_PORT = /^(?:\[([^\]]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/;

/** The messages never repeat the URL: it may hold a password. */
export function parseRedisUrl(text: string): Result<string, Fault> {
  if (!URL.canParse(text)) return err({ message: 'not a Redis URL', hint: URL_EXAMPLE });
  const url = new URL(text);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    return err({ message: 'a Redis URL starts with redis:// or rediss://', hint: URL_EXAMPLE });
  }
  if (url.hostname === '') return err({ message: 'a Redis URL without a host', hint: URL_EXAMPLE });
  if (!/^(?:\/\d{0,5})?$/.test(url.pathname) || url.hash !== '') {
    return err({ message: 'a Redis URL ends with a database number', hint: URL_EXAMPLE });
  }
  return ok(text);
}

export function parseHostPort(text: string): Result<string, Fault> {
  const match = HOST_PORT.exec(text.trim());
  const port = Number(match?.[3]);
  const isHostValid = match?.[1] === undefined || isIPv6(match[1]);
  if (match === null || !isHostValid || port < 1 || port > 65_535) {
    return err({ message: 'not a host and port', hint: 'write for example 127.0.0.1:6379' });
  }
  return ok(text.trim());
}

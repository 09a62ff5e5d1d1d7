// Why the gateway could not start, as one sentence that says what to do.
import type { ListenAddress, Settings } from '../config/settings.ts';

/** Something that keeps the gateway from starting, with what to do about it in its message. */
export class StartError extends Error {
  readonly code = 'start_failed';
}

/** @returns text for the operator; the stack of a defect is kept, since nobody could guess it */
export function describeStartError(cause: unknown, settings: Settings): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause ? String(cause.code) : '';
  const port = 'port' in cause ? Number(cause.port) : null;
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use; stop what uses it, or change ${listenKey(port, settings)}`;
  }
  if (code === 'EACCES' && port !== null) {
    const key = listenKey(port, settings);
    return `port ${port} may not be opened by this user; use one above 1023 in ${key}`;
  }
  if (code === 'EADDRNOTAVAIL') {
    return `this machine has no such address: ${cause.message}; see ${listenKey(port, settings)}`;
  }
  if (code !== '') return cause.message;
  return cause.stack ?? cause.message;
}

function listenKey(port: number | null, { server, integration, admin }: Settings): string {
  const has = (address: ListenAddress | undefined): boolean => address?.port === port;
  if (has(server.listen)) return 'server.listen';
  if (has(server.tls?.listen)) return 'server.tls.listen';
  if (has(integration?.listen)) return 'integration.listen';
  return has(admin.listen) ? 'admin.listen' : 'the listen addresses';
}

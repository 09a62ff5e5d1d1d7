// A connection to somebody else's server, for a page. The name is resolved here, every address is
// judged, and the connection goes to an address that was judged: a second answer of the DNS has no
// effect.
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { isPublicAddress } from '../../core/http/address-range.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { PublicTarget } from '../options.ts';

/** The page asked for an address that is not public. */
export class RefusedError extends Error {}

/** Every address of a name, as text. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const ADDRESSES_TRIED_MAX = 2;

/** Connects to a public address of a host, or throws. */
export async function connectPublic(
  { host, port }: PublicTarget,
  signal: AbortSignal,
  resolve: Resolve = resolveName,
): Promise<Socket> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const allowed = addresses.filter(isPublicAddress);
  if (allowed.length === 0) throw new RefusedError(`${host} has no public address`);
  let failure: unknown = null;
  for (const address of allowed.slice(0, ADDRESSES_TRIED_MAX)) {
    try {
      return await connectTo(address, port, signal);
    } catch (error) {
      failure = error;
      if (signal.aborted) break;
    }
  }
  throw failure;
}

async function resolveName(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

async function connectTo(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(RENDER_LIMITS.connectTimeoutMs)]);
  try {
    await once(socket, 'connect', { signal: limit });
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

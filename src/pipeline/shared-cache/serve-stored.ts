// An answer from the store: its body is read only where the client gets one.
import { hasRange } from '../../core/http/shared-cache/judge-request.ts';
import type { PipelineDeps } from '../deps.ts';
import type { Delivery, Keyed } from '../state.ts';
import { isUnchangedFor, serveExchange } from './deliver-exchange.ts';
import type { FoundExchange } from './find-exchange.ts';

export interface StoredAs {
  readonly how: 'hit' | 'stale';
  /** Why a stale one is served, where that was not planned. */
  readonly detail: string | null;
}

/** null: its body could not be read. */
export async function serveStored(
  keyed: Keyed,
  { entry, ahead }: FoundExchange,
  { how, detail }: StoredAs,
  deps: PipelineDeps,
): Promise<Delivery | null> {
  const { exchange, status, cachedAt, staleAt, bodies } = entry;
  const served = { ...exchange, status, cachedAt, staleAt, bytes: bodies.identity.bytes };
  const as = { cache: how, forward: null, detail };
  const isBodiless = keyed.request.method === 'HEAD' || isUnchangedFor(keyed, served);
  if (isBodiless && !hasRange(keyed.request.headers)) {
    return serveExchange(keyed, served, null, { as, now: deps.clock.now() });
  }
  const body = await deps.pages.readBody(entry, 'identity', ahead);
  if (body.state !== 'found') return null;
  return serveExchange(keyed, served, body.value, { as, now: deps.clock.now() });
}

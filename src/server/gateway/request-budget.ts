// `server.timeout`: how long a request may take until its answer begins, whatever it waits for on
// its way: a page, another request's answer, one origin after the other. A body has no such end,
// up or down, nor has a tunnel: those may last for hours, and are cut when they stall.
import { answerFailure } from '../../pipeline/deliver-status.ts';
import type { Delivery } from '../../pipeline/state.ts';
import { within } from '../../pipeline/within.ts';
import type { Snapshot } from './gateway-deps.ts';
import type { Visit } from './visit.ts';

interface Waiting {
  readonly visit: Visit;
  readonly snapshot: Snapshot;
}

/**
 * What comes of a request in time. What comes later is for nobody; a fetch goes on for the cache.
 *
 * @param walking the request's way through the phases, which has begun
 */
export async function deliverInTime(
  { visit, snapshot }: Waiting,
  walking: Promise<Delivery>,
): Promise<Delivery> {
  const { awaited: keyed } = visit;
  // It was decided at once.
  if (keyed === null) return await walking;
  const delivery = await within(leftMs(visit, snapshot), walking);
  if (delivery === null) {
    walking.then(discard, snapshot.pipeline.onDefect);
    return answerFailure(keyed, { reason: 'wait_timeout', detail: 'server.timeout' });
  }
  if (delivery.kind === 'answer') return delivery;
  return { ...delivery, timeoutMs: Math.min(delivery.timeoutMs, leftMs(visit, snapshot)) };
}

function leftMs({ startedAtMs }: Visit, { timeoutMs }: Snapshot): number {
  return Math.max(0, timeoutMs - (performance.now() - startedAtMs));
}

function discard(delivery: Delivery): void {
  if (delivery.kind === 'bypass') return;
  const { body } = delivery.answer;
  if (body !== null && 'stream' in body) body.stream.destroy();
}

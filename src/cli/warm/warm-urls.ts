// Has a list of URLs warmed by the running gateway: so many at a time, in requests as large as
// there is room, so that a list of which most is fresh goes quickly and one of renders is evenly
// spread.
import { fieldsOf, isCount } from '../../core/records.ts';
import { WARM_URLS_MAX } from '../../pipeline/refresh/request-refresh.ts';
import { type AdminAnswer, AdminError, readAdminError } from '../ask-admin.ts';
import { Places } from './places.ts';
import type { WarmLine, WarmRetryLine } from './warm-tally.ts';

export interface Warming {
  readonly urls: readonly string[];
  /** Where to begin. */
  readonly from: number;
  /** Asked for at once; what waits for another try is not counted. */
  readonly concurrency: number;
  /** `POST /warm` with so many URLs. */
  readonly ask: (urls: readonly string[]) => Promise<AdminAnswer>;
  /** @param index in `urls` */
  readonly onDone: (index: number, line: WarmLine) => Promise<void>;
  readonly onRetry: (line: WarmRetryLine) => Promise<void>;
}

/** Throws an `AdminError` when the gateway does not go along. */
export async function warmUrls(warming: Warming): Promise<void> {
  const { urls, concurrency } = warming;
  const running = new Set<Promise<void>>();
  let next = warming.from;
  const places = new Places(concurrency);
  const failures: unknown[] = [];

  while (next < urls.length && failures.length === 0) {
    const room = places.take(Math.min(WARM_URLS_MAX, urls.length - next));
    if (room === 0) {
      await places.wait();
      continue;
    }
    const first = next;
    next += room;
    const turn = warmBatch(first, urls.slice(first, next), places, warming)
      .catch((cause: unknown) => {
        failures.push(cause);
        places.wake();
      })
      .finally(() => running.delete(turn));
    running.add(turn);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

async function warmBatch(
  first: number,
  batch: readonly string[],
  places: Places,
  { ask, onDone, onRetry }: Warming,
): Promise<void> {
  const { status, values } = await ask(batch);
  const indexes = new Map<string, number[]>();
  for (const [index, url] of batch.entries()) {
    indexes.set(url, [...(indexes.get(url) ?? []), first + index]);
  }
  /** Wait for another try, and have lent their places. */
  const lent = new Set<string>();
  let open = batch.length;
  for await (const value of values) {
    if (status !== 200) throw new AdminError(`the gateway answers ${status}: ${describe(value)}`);
    const retry = readRetry(value);
    if (retry !== null) {
      if (!lent.has(retry.url) && places.lend()) lent.add(retry.url);
      await onRetry(retry);
      continue;
    }
    const line = readLine(value);
    const index = indexes.get(line.url)?.shift();
    if (index === undefined) throw new AdminError('the gateway tells of a URL nobody asked for');
    open -= 1;
    await onDone(index, line);
    places.release(lent.delete(line.url));
  }
  if (open > 0) throw new AdminError('the gateway stopped in the middle of its answer');
}

function describe(value: unknown): string {
  return readAdminError(value) ?? JSON.stringify(value);
}

/** null: the line says something else. */
function readRetry(value: unknown): WarmRetryLine | null {
  const { url, retry } = fieldsOf(value);
  if (typeof url !== 'string' || retry === undefined) return null;
  const { dimension, detail, delay_ms: delayMs } = fieldsOf(retry);
  return {
    url,
    dimension: String(dimension),
    detail: typeof detail === 'string' ? detail : null,
    delayMs: isCount(delayMs) ? delayMs : 0,
  };
}

function readLine(value: unknown): WarmLine {
  const { url, refused, pages } = fieldsOf(value);
  if (typeof url !== 'string') throw new AdminError('the gateway answers oddly: not understood');
  const list: readonly unknown[] = Array.isArray(pages) ? pages : [];
  return {
    url,
    refused: typeof refused === 'string' ? refused : null,
    pages: list.map((page) => {
      const { dimension, outcome, detail } = fieldsOf(page);
      return {
        dimension: String(dimension),
        outcome: String(outcome),
        detail: typeof detail === 'string' ? detail : null,
      };
    }),
  };
}

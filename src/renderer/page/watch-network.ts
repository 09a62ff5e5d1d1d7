// What a page is still loading, and since when its network has been quiet. WebSocket and
// EventSource never count, beacons neither, and long polls not for ever: long-poll.ts tells them.
import type { CDPSession } from 'playwright-core';
import { RENDER_LIMITS } from '../limits.ts';
import { createLoadingRequests, type Loading } from './loading-requests.ts';

export interface NetworkWatch {
  /** Milliseconds for which nothing that counts was under way. */
  readonly quietMs: (rule: QuietRule) => number;
  /** URLs under way that count, scripts and data first. */
  readonly pending: () => readonly string[];
  /** Requests seen so far. */
  readonly started: () => number;
}

/**
 * `idle`: nothing under way. `almost`: no script and no data, and at most two of anything else,
 * such as images; plain counting would take a page for done while its data is on its way.
 */
export type QuietRule = 'idle' | 'almost';

export interface WatchOptions {
  readonly pageUrl: string;
  /** How old a long poll is when it no longer counts. */
  readonly longPollAfterMs: number;
  /** Told the network id of a request whose answer broke off or never came. */
  readonly onFailed: (networkId: string) => void;
}

const NEVER_COUNTED: ReadonlySet<string> = new Set([
  'CSPViolationReport',
  'EventSource',
  'Manifest',
  'Ping',
  'Prefetch',
  'Preflight',
  'WebSocket',
]);
const OTHERS_MAX = 2;

/** Starts watching; ends with the session. */
export async function watchNetwork(
  session: CDPSession,
  { pageUrl, longPollAfterMs, onFailed }: WatchOptions,
): Promise<NetworkWatch> {
  const loading = createLoadingRequests(pageUrl, longPollAfterMs);
  const busyAt: Record<QuietRule, number> = { idle: performance.now(), almost: performance.now() };
  let started = 0;

  const touch = (): void => {
    const now = performance.now();
    const counted = loading.counted(now);
    const content = counted.filter(({ isContent }) => isContent).length;
    if (counted.length > 0) busyAt.idle = now;
    if (content > 0 || counted.length - content > OTHERS_MAX) busyAt.almost = now;
  };
  const finish = (networkId: string, isWhole: boolean): void => {
    touch();
    loading.close(networkId, isWhole);
  };
  session.on('Network.requestWillBeSent', ({ requestId, request, initiator, type = 'Other' }) => {
    if (NEVER_COUNTED.has(type)) return;
    started += 1;
    loading.open(requestId, { type, request, initiator });
    touch();
  });
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.mimeType === 'text/event-stream') finish(requestId, false);
    else loading.answer(requestId, response);
  });
  session.on('Network.dataReceived', ({ requestId }) => loading.receive(requestId));
  session.on('Network.loadingFinished', ({ requestId }) => finish(requestId, true));
  session.on('Network.loadingFailed', ({ requestId, canceled }) => {
    finish(requestId, false);
    if (canceled !== true) onFailed(requestId);
  });
  // A body that is not told makes its request one that can't be compared.
  await session.send('Network.enable', { maxPostDataSize: RENDER_LIMITS.textCharsMax });
  return {
    quietMs: (rule) => {
      touch();
      return performance.now() - busyAt[rule];
    },
    pending: () => byWeight(loading.counted(performance.now())).map(({ url }) => url),
    started: () => started,
  };
}

/** What most likely holds the page up goes first. */
function byWeight(loading: readonly Loading[]): readonly Loading[] {
  const others = loading.filter(({ isContent }) => !isContent);
  return [...loading.filter(({ isContent }) => isContent), ...others];
}

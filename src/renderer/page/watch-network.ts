// What a page is still loading, and since when its network has been quiet. WebSocket and
// EventSource never count, beacons neither, and an XHR or fetch that has been under way for long is
// a long poll.
import type { CDPSession } from 'playwright-core';
import { RENDER_LIMITS } from '../limits.ts';

export interface NetworkWatch {
  /** Milliseconds for which nothing that counts was under way. */
  readonly quietMs: (rule: QuietRule) => number;
  /** URLs under way. */
  readonly pending: () => readonly string[];
  /** Requests seen so far. */
  readonly started: () => number;
}

/**
 * `idle`: nothing under way. `almost`: no script and no data, and at most two of anything else,
 * such
 * as images; plain counting would take a page for done while the data it will show is on its way.
 */
export type QuietRule = 'idle' | 'almost';

interface Loading {
  readonly url: string;
  readonly type: string;
  readonly since: number;
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
const CONTENT: ReadonlySet<string> = new Set(['Fetch', 'Script', 'XHR']);
const OTHERS_MAX = 2;

/**
 * Starts watching; ends with the session.
 *
 * @param onFailed told the network id of a request whose answer broke off or never came
 */
export async function watchNetwork(
  session: CDPSession,
  onFailed: (networkId: string) => void,
): Promise<NetworkWatch> {
  const loading = new Map<string, Loading>();
  const busyAt: Record<QuietRule, number> = { idle: performance.now(), almost: performance.now() };
  let started = 0;

  const touch = (): void => {
    const now = performance.now();
    const counted = [...loading.values()].filter((request) => isCounted(request, now));
    const content = counted.filter(({ type }) => CONTENT.has(type)).length;
    if (counted.length > 0) busyAt.idle = now;
    if (content > 0 || counted.length - content > OTHERS_MAX) busyAt.almost = now;
  };
  const finish = (networkId: string): void => {
    touch();
    loading.delete(networkId);
  };
  session.on('Network.requestWillBeSent', ({ requestId, request, type = 'Other' }) => {
    if (NEVER_COUNTED.has(type)) return;
    started += 1;
    loading.set(requestId, { url: request.url, type, since: performance.now() });
    touch();
  });
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.mimeType === 'text/event-stream') finish(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId }) => finish(requestId));
  session.on('Network.loadingFailed', ({ requestId, canceled }) => {
    finish(requestId);
    if (canceled !== true) onFailed(requestId);
  });
  await session.send('Network.enable');
  return {
    quietMs: (rule) => {
      touch();
      return performance.now() - busyAt[rule];
    },
    pending: () => [...loading.values()].map(({ url }) => url),
    started: () => started,
  };
}

function isCounted({ type, since }: Loading, now: number): boolean {
  const mayBeLongPoll = type === 'XHR' || type === 'Fetch';
  return !mayBeLongPoll || now - since < RENDER_LIMITS.longPollMs;
}

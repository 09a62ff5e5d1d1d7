// When a page counts as ready: its event has come, its network is quiet if the policy asks for
// that, `window.prerenderReady` is not false, and the selector matches. All at the same moment.
import { setTimeout as wait } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';
import type { RenderRequest } from '../../core/http/render-request.ts';
import type { WaitEvent } from '../../core/policy/policy.ts';
import { RENDER_LIMITS } from '../limits.ts';
import { OverdueError, withDeadline } from './deadline.ts';
import { readyExpression } from './page-script.ts';
import type { NetworkWatch, QuietRule } from './watch-network.ts';

export interface Readiness {
  readonly session: CDPSession;
  readonly network: NetworkWatch;
  readonly request: RenderRequest;
  /** performance.now() at which what is there is taken. */
  readonly softAt: number;
}

const QUIET_RULES: Readonly<Record<WaitEvent, QuietRule | null>> = {
  DOMContentLoaded: null,
  load: null,
  networkIdle: 'idle',
  networkAlmostIdle: 'almost',
};

/**
 * Remembers which events of the main document have come. Ends with the session.
 *
 * A document that tried to leave while it loaded and was kept gets neither event; it only stops.
 */
export function watchEvents(session: CDPSession, frameId: string): (event: WaitEvent) => boolean {
  let [hasContent, hasLoaded] = [false, false];
  session.on('Page.frameStartedNavigating', (event) => {
    const isReplaced = event.frameId === frameId && !/same/i.test(event.navigationType);
    if (isReplaced) [hasContent, hasLoaded] = [false, false];
  });
  session.on('Page.frameStoppedLoading', (event) => {
    if (event.frameId === frameId) [hasContent, hasLoaded] = [true, true];
  });
  session.on('Page.domContentEventFired', () => {
    hasContent = true;
  });
  session.on('Page.loadEventFired', () => {
    hasLoaded = true;
  });
  return (event) => (event === 'load' ? hasLoaded : hasContent);
}

/** Waits; false when the soft limit came first. */
export async function waitUntilReady(
  readiness: Readiness,
  hasCome: (event: WaitEvent) => boolean,
): Promise<boolean> {
  const { network, request, softAt } = readiness;
  const rule = QUIET_RULES[request.wait_for];
  const remainingMs = (): number => softAt - performance.now();
  while (remainingMs() > 0) {
    const isQuiet = rule === null || network.quietMs(rule) >= RENDER_LIMITS.quietMs;
    if (hasCome(request.wait_for) && isQuiet && (await saysReady(readiness))) {
      await wait(Math.max(0, Math.min(request.additional_wait_ms, remainingMs())));
      return true;
    }
    await wait(Math.min(RENDER_LIMITS.sampleMs, Math.max(1, remainingMs())));
  }
  return false;
}

/** Asks the page itself; a page that is too busy to answer is not ready. */
async function saysReady({ session, request, softAt }: Readiness): Promise<boolean> {
  const expression = readyExpression(request.selector);
  try {
    const asked = session.send('Runtime.evaluate', { expression, returnByValue: true });
    const { result } = await withDeadline(asked, softAt - performance.now());
    return result.value === true;
  } catch (error) {
    if (error instanceof OverdueError) return false;
    throw error;
  }
}

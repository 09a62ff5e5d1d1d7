// Lazy content: lists and images that load when they come into view. Like the crawlers that render
// for themselves, the viewport is made as high as the page, a bounded number of times, instead of
// scrolling through it.
import { setTimeout as wait } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { RENDER_LIMITS } from '../limits.ts';
import { withDeadline } from './deadline.ts';
import { FRAMES_EXPRESSION, HEIGHT_EXPRESSION } from './page-script.ts';
import type { NetworkWatch } from './watch-network.ts';

export interface Growth {
  readonly page: Page;
  readonly session: CDPSession;
  readonly network: NetworkWatch;
  readonly width: number;
  readonly height: number;
  /** performance.now() at which growing ends. */
  readonly softAt: number;
}

/** Grows the viewport until the page no longer gets higher; false when time ran out. */
export async function growViewport(growth: Growth): Promise<boolean> {
  const { page, session, network, width, softAt } = growth;
  let { height } = growth;
  for (let round = 0; round < RENDER_LIMITS.growthsMax; round += 1) {
    const { result } = await session.send('Runtime.evaluate', {
      expression: HEIGHT_EXPRESSION,
      returnByValue: true,
    });
    const wanted = Math.min(Number(result.value) || 0, RENDER_LIMITS.viewportHeightMax);
    if (wanted <= height) return true;
    height = wanted;
    const startedBefore = network.started();
    await page.setViewportSize({ width, height });
    await Promise.all([wait(RENDER_LIMITS.growthPauseMs), waitForFrames(session, softAt)]);
    if (network.started() === startedBefore) continue;
    while (network.quietMs('almost') < RENDER_LIMITS.quietMs) {
      if (performance.now() > softAt) return false;
      await wait(RENDER_LIMITS.sampleMs);
    }
  }
  return true;
}

/** What has come into view is only told to a page with the next frame, however busy the machine. */
async function waitForFrames(session: CDPSession, softAt: number): Promise<void> {
  const timeoutMs = Math.min(RENDER_LIMITS.framesTimeoutMs, softAt - performance.now());
  try {
    const asked = session.send('Runtime.evaluate', {
      expression: FRAMES_EXPRESSION,
      awaitPromise: true,
    });
    await withDeadline(asked, timeoutMs);
  } catch {
    // A page that draws nothing, or loads itself anew, can still be taken as it is; a browser that
    // is lost shows with the next question.
  }
}

// One browser in its time of service: what it has rendered, what it is rendering, and why it should
// be replaced. It ends once; a retired one finishes what it has begun.
import type { CDPSession } from 'playwright-core';
import type { LaunchedBrowser } from '../browser/launch-browser.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { PoolOptions } from '../options.ts';
import { withDeadline } from '../page/deadline.ts';

/** Why a browser was replaced: metric label and log word. */
export type ReplaceReason = 'count' | 'age' | 'memory' | 'canary' | 'crash' | 'hang';

export interface Generation {
  readonly launched: LaunchedBrowser;
  readonly begin: () => void;
  readonly finish: () => void;
  readonly active: () => number;
  /** The first limit it has reached, or null. */
  readonly due: () => ReplaceReason | null;
  /** Whether it still answers. */
  readonly answers: () => Promise<boolean>;
  /** Ends it when its last render is done, at the latest after the drain timeout. */
  readonly retire: () => void;
  /** Ends it now. */
  readonly kill: () => Promise<void>;
  /** Whether its end was our wish. */
  readonly isEnding: () => boolean;
}

/** Takes a freshly launched browser into service. */
export async function createGeneration(
  launched: LaunchedBrowser,
  options: PoolOptions,
): Promise<Generation> {
  const startedAt = performance.now();
  const session: CDPSession = await launched.browser.newBrowserCDPSession();
  let [renders, active] = [0, 0];
  let isRetired = false;
  let isEnding = false;
  let drain: NodeJS.Timeout | undefined;

  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    clearTimeout(drain);
    void launched.end();
  };
  return {
    launched,
    begin: () => {
      renders += 1;
      active += 1;
    },
    finish: () => {
      active -= 1;
      if (isRetired && active === 0) end();
    },
    active: () => active,
    due: () => {
      if (renders >= options.rendersPerBrowser) return 'count';
      if (performance.now() - startedAt >= options.browserAgeMs) return 'age';
      return null;
    },
    answers: async () => {
      try {
        await withDeadline(
          session.send('Browser.getVersion'),
          RENDER_LIMITS.browserAnswerTimeoutMs,
        );
        return true;
      } catch {
        // Too late and broken connection are the same to whoever waits for a page.
        return false;
      }
    },
    retire: () => {
      isRetired = true;
      if (active === 0) return end();
      drain = setTimeout(end, options.drainTimeoutMs);
    },
    kill: async () => {
      isEnding = true;
      clearTimeout(drain);
      await launched.kill();
    },
    isEnding: () => isEnding,
  };
}

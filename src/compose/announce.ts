// The line `ready` of the log: people and stored pages are served, and crawlers get rendered ones.
// The ports are open before, because neither people nor hits have to wait for a browser; where the
// own renderer does not come, the gateway is as ready as it will be and says what is missing.

import type { Log } from '../adapters/telemetry/create-log.ts';
import type { Config } from '../config/settings.ts';
import type { PipelineDeps } from '../pipeline/deps.ts';
import { MEANWHILE } from './observe-renderer.ts';
import type { OwnRenderer } from './own-renderer.ts';
import type { Addresses } from './serving.ts';

export interface Announced {
  readonly config: Config;
  readonly addresses: Addresses;
  /** Of the whole of it. */
  readonly foundation: {
    readonly log: Log;
    readonly renderer: Pick<OwnRenderer, 'untilReady'>;
    readonly lasting: { readonly pipeline: Pick<PipelineDeps, 'onDefect'> };
  };
  readonly isStopping: () => boolean;
}

/** Longer than anybody has patience with a renderer, which ends the wait. */
const RENDERER_TIMEOUT_MS = 60_000;

/** Says it now, or when the own renderer is there or is waited for no longer. */
export function announce(announced: Announced): void {
  const { config, addresses, foundation } = announced;
  const { log, lasting } = foundation;
  const { policies, settings } = config;
  const { listen } = addresses;
  const { engine } = settings.render;
  const say = (): void =>
    log.info('ready', {
      listen,
      hosts: policies.hosts.length,
      engine,
      store: settings.redis === null ? 'embedded' : 'redis',
    });
  if (engine !== 'chromium') return say();
  waitForRenderer(announced).then((isWanted) => {
    if (isWanted) say();
  }, lasting.pipeline.onDefect);
}

/** @returns false: the gateway stops, and nobody is to be told any more */
async function waitForRenderer(announced: Announced): Promise<boolean> {
  const { addresses, foundation, isStopping } = announced;
  const { log, renderer } = foundation;
  // Workers may need longer than the browser.
  const { state: stateNow } = await renderer.untilReady(0);
  if (stateNow === 'done') return !isStopping();
  log.info('listening', { listen: addresses.listen, waits_for: 'renderer' });
  const state = await renderer.untilReady(RENDERER_TIMEOUT_MS);
  if (isStopping()) return false;
  if (state.state === 'unavailable') {
    log.warn('nothing can be rendered yet', { reason: state.reason, ...MEANWHILE });
  }
  return true;
}

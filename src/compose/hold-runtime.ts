// The runtime in service: one assignment changes it, and what belonged only to the one before ends
// when nobody waits for it any more.
import type { Config } from '../config/settings.ts';
import { buildRuntime, type Runtime } from './build-runtime.ts';
import type { Foundation } from './foundation.ts';
import type { Releases } from './releases.ts';

export interface RuntimeHolder {
  readonly current: () => Runtime;
  /**
   * Builds another configuration aside and puts it into service. Throws, and leaves everything as
   * it was, when that can't be done.
   *
   * @param prepare whatever else may fail
   */
  readonly change: (config: Config, prepare: () => Promise<void>) => Promise<void>;
}

export async function holdRuntime(
  config: Config,
  { log, bots, renderer, lasting }: Foundation,
  releases: Releases,
): Promise<RuntimeHolder> {
  let runtime = await buildRuntime(config, lasting, null);
  releases.add(async () => await runtime.source.close());

  async function retire(unused: Runtime, used: Runtime): Promise<void> {
    if (unused.source === used.source) return;
    await lasting.drain();
    await unused.source.close();
  }

  return {
    current: () => runtime,
    change: async (nextConfig, prepare) => {
      const next = await buildRuntime(nextConfig, lasting, runtime);
      try {
        await prepare();
      } catch (cause) {
        await retire(next, runtime);
        throw cause;
      }
      const previous = runtime;
      runtime = next;
      log.setLevel(nextConfig.settings.log.level);
      await bots.ranges.reload();
      renderer.reload();
      // Whoever asked for the change does not wait for fetches that began before it.
      retire(previous, next).catch(lasting.pipeline.onDefect);
    },
  };
}

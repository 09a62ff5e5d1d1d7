// The composition root: configuration → stores → runtime → listeners, then reload, restart and
// stop. Start fails as a whole, with one message for the operator, or everything runs. This process
// leads: it serves pages itself, or by workers, and what is to be done once for all of them is done
// here.
import { availableParallelism } from 'node:os';
import { createLeaseKeeper } from '../adapters/workers/lease-keeper.ts';
import { type ConfigCopy, createCopyingReader } from '../config/config-reader.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config, Settings } from '../config/settings.ts';
import { announce } from './announce.ts';
import { layFoundation } from './foundation.ts';
import { holdRuntime } from './hold-runtime.ts';
import { listenAdmin } from './listen-admin.ts';
import { startRefreshing } from './refreshing.ts';
import { createReleases, type Releases } from './releases.ts';
import { createReloader } from './reload.ts';
import { createRestarter, describeRestart, type RestartAsker } from './restart.ts';
import { runUpkeep } from './run-upkeep.ts';
import { serveHere } from './serve-here.ts';
import type { Serving } from './serving.ts';
import { describeStartError } from './start-error.ts';
import type { StartOptions } from './start-options.ts';
import { createStopper } from './stop.ts';
import { joinLeases } from './workers/join-leases.ts';
import { serveByWorkers } from './workers/serve-by-workers.ts';

export interface RunningGateway {
  /** Ports that were given by the system where the configuration says 0. */
  readonly port: number;
  readonly adminPort: number;
  /** null: the pull endpoints are off. */
  readonly integrationPort: number | null;
  /** Reads the configuration again; false when it has errors and the old one goes on serving. */
  readonly reload: () => Promise<boolean>;
  /** Replaces every worker process by a new one; false when that was not possible. */
  readonly restart: (askedBy: RestartAsker) => Promise<boolean>;
  /** Stops accepting, lets open requests end, closes the stores. */
  readonly stop: () => Promise<void>;
  readonly stopped: Promise<void>;
}

/** Starts the gateway; null after its errors were written to stderr. */
export async function startGateway(options: StartOptions): Promise<RunningGateway | null> {
  const reader = createCopyingReader();
  const { config, diagnostics } = await loadConfig(options.file, options.env, reader);
  for (const problem of diagnostics) options.stderr.write(`${formatDiagnostic(problem)}\n`);
  if (config === null) return null;
  const releases = createReleases();
  try {
    return await start({ config, copy: reader.copy() }, options, releases);
  } catch (cause) {
    await releases.run();
    options.stderr.write(`edge-gateway: ${describeStartError(cause, config.settings)}\n`);
    return null;
  }
}

interface Loaded {
  readonly config: Config;
  readonly copy: ConfigCopy;
}

async function start(
  { config, copy }: Loaded,
  options: StartOptions,
  releases: Releases,
): Promise<RunningGateway> {
  const count = countWorkers(config.settings, options);
  const keeper = createLeaseKeeper();
  const belonging = count > 1 ? { leases: joinLeases(keeper) } : {};
  const foundation = await layFoundation(config, options, releases, belonging);
  const { log, metrics, stores, bots, lasting } = foundation;
  const runtime = await holdRuntime(config, foundation, releases);
  const refreshing = startRefreshing(foundation, runtime.current);
  let serving: Serving | null = null;
  const { stop, stopped, isDraining } = createStopper({
    log,
    stopServing: async () => await serving?.stop(),
    drainFlights: async () => {
      await refreshing.stop();
      await lasting.drain();
    },
    release: releases.run,
  });
  serving =
    count > 1
      ? await serveByWorkers(
          config,
          { file: options.file, copy, count, leases: keeper, refreshing, foundation, runtime },
          releases,
        )
      : await serveHere(config, { foundation, runtime, isDraining }, releases);
  await runUpkeep(config.settings, foundation, releases);
  const { accepting, addresses, renderMetrics, restart } = serving;
  const reloader = createReloader({
    file: options.file,
    env: options.env,
    log,
    current: () => runtime.current().config,
    serving,
    metrics,
    clock: lasting.pipeline.clock,
    isStopping: isDraining,
  });
  releases.add(reloader.close);
  const restartWorkers = createRestarter({ reloader, restart, log, isStopping: isDraining });
  const adminPort = await listenAdmin(
    {
      runtime: runtime.current,
      stores,
      bots: bots.judge,
      refreshing,
      metrics: { contentType: metrics.contentType, render: renderMetrics },
      accepting: () => (isDraining() ? 'draining' : accepting()),
      reloader,
      restart: async () => describeRestart(await restartWorkers('POST /restart')),
      onError: lasting.pipeline.onDefect,
    },
    releases,
  );
  metrics.watchRenderers(async () => await runtime.current().source.renderers());
  announce({ config, addresses, foundation, isStopping: isDraining });
  return {
    port: addresses.port,
    adminPort,
    integrationPort: addresses.integrationPort,
    reload: async () => (await reloader.reload()).isApplied,
    restart: async (askedBy) => (await restartWorkers(askedBy)).result.isDone,
    stop,
    stopped,
  };
}

function countWorkers({ server: { workers } }: Settings, { forks = false }: StartOptions): number {
  if (!forks) return 1;
  return workers === 'auto' ? availableParallelism() : workers;
}

// What a worker does once it has its assignment: it serves the connections that the primary process
// accepts, with the same parts that a process alone has.
import type { MetricsSnapshot } from '../../adapters/telemetry/merge-snapshots.ts';
import type { MemberLeases } from '../../adapters/workers/create-member-leases.ts';
import { type ConfigCopy, createCopyReader } from '../../config/config-reader.ts';
import { formatDiagnostic } from '../../config/diagnostic.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Config } from '../../config/settings.ts';
import type { RefreshQueue } from '../../pipeline/refresh-ports.ts';
import type { PublicServers } from '../build-public.ts';
import { layFoundation } from '../foundation.ts';
import { holdRuntime } from '../hold-runtime.ts';
import type { OwnRenderer } from '../own-renderer.ts';
import { createReleases, type Releases } from '../releases.ts';
import { keepStartSettings } from '../restart-settings.ts';
import { servePages } from '../serve-pages.ts';
import { describeStartError, StartError } from '../start-error.ts';
import type { StartOptions } from '../start-options.ts';
import { createStopper } from '../stop.ts';
import type { Assignment } from './messages.ts';

export interface RunningWorker {
  /** Serves a connection that was made to this port. */
  readonly connect: PublicServers['connect'];
  /** null: done; else why the old configuration goes on serving. */
  readonly reload: (copy: ConfigCopy) => Promise<string | null>;
  readonly snapshot: () => Promise<MetricsSnapshot>;
  /** Lets open requests end and releases everything. */
  readonly stop: (idleGraceMs: number) => Promise<void>;
}

export interface WorkerParts {
  readonly assignment: Assignment;
  readonly io: Pick<StartOptions, 'env' | 'stdout' | 'stderr'>;
  readonly renderer: OwnRenderer;
  readonly leases: MemberLeases;
  readonly queueRefresh: RefreshQueue['add'];
}

/** Throws a sentence for the operator when it can't serve, with nothing left open. */
export async function runWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { assignment } = parts;
  const config = await loadAssigned(parts, assignment.copy);
  const releases = createReleases();
  try {
    return await start(config, parts, releases);
  } catch (cause) {
    await releases.run();
    throw new StartError(describeStartError(cause, config.settings));
  }
}

async function start(
  config: Config,
  parts: WorkerParts,
  releases: Releases,
): Promise<RunningWorker> {
  const { assignment, io, renderer, leases, queueRefresh } = parts;
  const { worker, file, pseudonym, ticketKeys } = assignment;
  const foundation = await layFoundation(config, { file, ...io }, releases, {
    worker,
    pseudonym,
    renderer,
    leases,
    queueRefresh,
  });
  const { log, metrics, lasting } = foundation;
  releases.add(leases.close);
  const runtime = await holdRuntime(config, foundation, releases);
  let graceMs = 0;
  const { stop, isDraining } = createStopper({
    log,
    stopServing: async () => await servers.close(graceMs),
    drainFlights: lasting.drain,
    release: releases.run,
  });
  const servers = await servePages(
    config,
    { foundation, runtime, isDraining, ticketKeys: Buffer.from(ticketKeys, 'base64') },
    releases,
  );
  return {
    connect: servers.connect,
    reload: async (copy) => {
      try {
        const next = await loadAssigned(parts, copy);
        await runtime.change(next, () => servers.renew(next.settings));
        return null;
      } catch (cause) {
        return cause instanceof Error ? cause.message : String(cause);
      }
    },
    snapshot: metrics.snapshot,
    stop: async (idleGraceMs) => {
      graceMs = idleGraceMs;
      await stop();
    },
  };
}

/** What is built once is as it is for the other workers, whatever the newest texts say. */
async function loadAssigned(
  { assignment: { file, atStart }, io }: WorkerParts,
  copy: ConfigCopy,
): Promise<Config> {
  const { config, diagnostics } = await loadConfig(file, io.env, createCopyReader(copy));
  // The texts were right when they were copied: a file they name is gone.
  if (config === null) throw new StartError(diagnostics.map(formatDiagnostic).join('\n'));
  return { ...config, settings: keepStartSettings(config.settings, atStart) };
}

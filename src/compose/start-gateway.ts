// The composition root: configuration → stores → runtime → listeners, then reload and stop. Start
// fails as a whole, with one message for the operator, or everything runs.
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { connectOrigins } from '../adapters/origin/connect-origin.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { createLog, type Log } from '../adapters/telemetry/create-log.ts';
import { createMetrics, type Metrics } from '../adapters/telemetry/create-metrics.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../pipeline/ports.ts';
import { createAdminApp } from '../server/admin/create-admin-app.ts';
import { createAdminActions } from './admin-actions.ts';
import { buildRuntime, createLasting, type Lasting, type Runtime } from './build-runtime.ts';
import { listenPublic, type PublicListeners } from './listen-public.ts';
import { observeRequest, storeListener, watchSource } from './observe.ts';
import { type Bots, openBots } from './open-bots.ts';
import { openStores, type Stores } from './open-stores.ts';
import { createOwnRenderer, type OwnRenderer } from './own-renderer.ts';
import { createReleases, type Releases } from './releases.ts';
import { createReloader } from './reload.ts';
import { describeStartError } from './start-error.ts';
import { createStopper } from './stop.ts';

export interface StartOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: Writable;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** `address:port`, by which crawlers are verified; absent: the system's. */
  readonly nameServers?: readonly string[];
}

export interface RunningGateway {
  /** Ports that were given by the system where the configuration says 0. */
  readonly port: number;
  readonly adminPort: number;
  /** null: the pull endpoints are off. */
  readonly integrationPort: number | null;
  /** Reads the configuration again; false when it has errors and the old one goes on serving. */
  readonly reload: () => Promise<boolean>;
  /** Stops accepting, lets open requests end, closes the stores. */
  readonly stop: () => Promise<void>;
  readonly stopped: Promise<void>;
}

/** Starts the gateway; null after its errors were written to stderr. */
export async function startGateway(options: StartOptions): Promise<RunningGateway | null> {
  const { config, diagnostics } = await loadConfig(options.file, options.env);
  for (const problem of diagnostics) options.stderr.write(`${formatDiagnostic(problem)}\n`);
  if (config === null) return null;
  const releases = createReleases();
  try {
    return await start(config, options, releases);
  } catch (cause) {
    await releases.run();
    options.stderr.write(`edge-gateway: ${describeStartError(cause, config.settings)}\n`);
    return null;
  }
}

/** What the runtime of every configuration stands on: made once, released when we stop. */
interface Foundation {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly stores: Stores;
  readonly bots: Bots;
  readonly renderer: OwnRenderer;
  readonly lasting: Lasting;
}

async function layFoundation(
  { settings }: Config,
  options: StartOptions,
  releases: Releases,
): Promise<Foundation> {
  const { file, env, stdout, nameServers, clock = systemClock } = options;
  const log = createLog(settings.log.level, stdout);
  const metrics = createMetrics();
  const onDefect = (error: unknown): void => log.error('defect', { err: error });
  const stores = await openStores(settings, storeListener(log, metrics), clock);
  releases.add(stores.close);
  const bots = await openBots(settings, {
    clock,
    nameServers,
    onProblem: (list, reason) => log.warn('address list', { file: list, reason }),
    onDefect,
  });
  releases.add(bots.close);
  const pseudonym = `edge-gateway-${randomUUID().slice(0, 8)}`;
  const renderer = createOwnRenderer({
    file,
    env,
    pseudonym,
    output: stdout,
    onEvent: (event) => log.info('renderer', { ...event }),
  });
  releases.add(renderer.close);
  const lasting = createLasting({
    pseudonym,
    renderer,
    pages: stores.pages,
    leases: stores.leases,
    judgeBot: bots.judge.judge,
    watchSource: (source) => watchSource(source, log, metrics),
    clock,
    onDefect,
  });
  return { log, metrics, stores, bots, renderer, lasting };
}

async function start(
  config: Config,
  options: StartOptions,
  releases: Releases,
): Promise<RunningGateway> {
  const foundation = await layFoundation(config, options, releases);
  const { log, metrics, bots, renderer, lasting } = foundation;
  let runtime = await buildRuntime(config, lasting, null);
  releases.add(async () => await runtime.source.close());
  const connections = connectOrigins();
  releases.add(connections.close);
  const listeners = await listenPublic(config, releases, {
    snapshot: () => runtime.snapshot,
    takeOrigin: lasting.balancer.take,
    connector: connections,
    pseudonym: lasting.pseudonym,
    bodyBytesMax: config.settings.server.limits.bodyBytesMax,
    onFinished: (finished) => observeRequest(finished, log, metrics),
    onRefused: metrics.recordRefusal,
    isReady: async () => (await runtime.source.check()).state === 'done',
    onDefect: (error, requestId) => log.error('defect', { request_id: requestId, err: error }),
  });
  const reloader = createReloader({
    file: options.file,
    env: options.env,
    log,
    current: () => runtime,
    onReload: metrics.recordReload,
    build: async (next) => await buildRuntime(next, lasting, runtime),
    swap: async (next) => {
      // The only part that can fail, so it comes before the one assignment.
      await Promise.all(listeners.all.map((one) => one.renew(next.config.settings)));
      const previous = runtime;
      runtime = next;
      log.setLevel(next.config.settings.log.level);
      await bots.ranges.reload();
      renderer.reload();
      if (previous.source !== next.source) await retire(previous, lasting.memories.flights.drain);
    },
  });
  releases.add(reloader.close);
  const admin = await listenAdmin(() => runtime, { ...foundation, reloader });
  releases.add(admin.close);
  const stopper = createStopper({
    log,
    stopListening: async (deadlineMs) => {
      await Promise.all(listeners.all.map((one) => one.close(deadlineMs)));
    },
    drainFlights: lasting.memories.flights.drain,
    release: releases.run,
  });
  admin.drainWith(stopper.isDraining);
  announce(config, listeners, log);
  return {
    port: listeners.port,
    adminPort: admin.port,
    integrationPort: listeners.integrationPort,
    reload: async () => (await reloader.reload()).isApplied,
    stop: stopper.stop,
    stopped: stopper.stopped,
  };
}

/** The old page source ends when nobody waits for it any more. */
async function retire(previous: Runtime, drain: () => Promise<void>): Promise<void> {
  await drain();
  await previous.source.close();
}

interface AdminParts extends Foundation {
  readonly reloader: ReturnType<typeof createReloader>;
}

async function listenAdmin(runtime: () => Runtime, parts: AdminParts) {
  const { stores, bots, metrics, log, reloader } = parts;
  let isDraining = (): boolean => false;
  const app = createAdminApp(
    createAdminActions({
      runtime,
      stores,
      bots: bots.judge,
      metrics,
      isDraining: () => isDraining(),
      reload: reloader.reloadForAdmin,
      onError: (error) => log.error('defect', { err: error }),
    }),
  );
  await app.listen(runtime().config.settings.admin.listen);
  const address = app.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () => await app.close(),
    drainWith: (next: () => boolean) => {
      isDraining = next;
    },
  };
}

function announce({ policies, settings }: Config, { all }: PublicListeners, log: Log): void {
  log.info('ready', {
    listen: all.map(({ address }) => address),
    hosts: policies.hosts.length,
    engine: settings.render.engine,
    store: settings.redis === null ? 'embedded' : 'redis',
  });
}

// What the runtime of every configuration stands on: log, metrics, stores, crawlers, renderer. Made
// once a process, released when it stops, the same in every role.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../adapters/system/system-clock.ts';
import { createLog, type Log } from '../adapters/telemetry/create-log.ts';
import { createMetrics, type Metrics } from '../adapters/telemetry/create-metrics.ts';
import { createHasher } from '../adapters/xxhash/create-hasher.ts';
import type { Config } from '../config/settings.ts';
import type { Leases } from '../pipeline/ports.ts';
import type { RefreshQueue } from '../pipeline/refresh-ports.ts';
import { createLasting, type Lasting } from './build-runtime.ts';
import { storeListener, watchSource } from './observe.ts';
import { createRendererObserver } from './observe-renderer.ts';
import { type Bots, openBots } from './open-bots.ts';
import { openRefreshQueue } from './open-refresh-queue.ts';
import { openStores, type Stores } from './open-stores.ts';
import { createOwnRenderer, type OwnRenderer } from './own-renderer.ts';
import type { Releases } from './releases.ts';
import type { StartOptions } from './start-options.ts';

export interface Foundation {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly stores: Stores;
  readonly bots: Bots;
  readonly renderer: OwnRenderer;
  /** null: a worker, whose primary process has it. */
  readonly refreshQueue: RefreshQueue | null;
  readonly lasting: Lasting;
}

/** What a process has in common with others of one gateway; absent: it has its own. */
export interface Belonging {
  /** Its number, for its log lines. */
  readonly worker?: number;
  /** All are one gateway, to loops as well. */
  readonly pseudonym?: string;
  readonly renderer?: OwnRenderer;
  /** For the embedded store; who shares Redis has leases there. */
  readonly leases?: Leases;
  /** Hands a job to the process that has the queue. */
  readonly queueRefresh?: RefreshQueue['add'];
}

export async function layFoundation(
  { settings }: Config,
  options: StartOptions,
  releases: Releases,
  belonging: Belonging,
): Promise<Foundation> {
  const { stdout, nameServers, clock = systemClock } = options;
  const { worker, leases } = belonging;
  const fields = worker === undefined ? {} : { worker };
  const log = createLog(settings.log.level, stdout, fields);
  const metrics = createMetrics();
  const onDefect = (error: unknown): void => log.error('defect', { err: error });
  const stores = await openStores(settings, storeListener(log, metrics), clock);
  releases.add(stores.close);
  metrics.watchStores(() => ({
    ...stores.pages.memoryUse(),
    sharedBodies: stores.sharedBodies(),
  }));
  const bots = await openBots(settings, {
    clock,
    nameServers,
    onProblem: (list, reason) => log.warn('address list', { file: list, reason }),
    onDefect,
  });
  releases.add(bots.close);
  const pseudonym = belonging.pseudonym ?? `edge-gateway-${randomUUID().slice(0, 8)}`;
  const renderer = belonging.renderer ?? ownRenderer(pseudonym, options, { log, metrics });
  releases.add(renderer.close);
  const queue = await joinQueue(belonging, async () => {
    const own = await openRefreshQueue(settings, { log, metrics, clock });
    releases.add(own.close);
    return own;
  });
  const lasting = createLasting({
    pseudonym,
    renderer,
    pages: stores.pages,
    journal: stores.journal,
    learned: stores.learned,
    leases: settings.redis === null ? (leases ?? stores.leases) : stores.leases,
    queueRefresh: queue.add,
    judgeBot: bots.judge.judge,
    watchSource: (source) => watchSource(source, log, metrics),
    clock,
    hasher: await createHasher(),
    onInvalidationLost: ({ key, url }, reason) =>
      log.error('a change was not told to the cache', { url, key, reason }),
    onDefect,
  });
  releases.add(lasting.pipeline.origin.close);
  return {
    log,
    metrics,
    stores,
    bots,
    renderer,
    refreshQueue: queue.own,
    lasting,
  };
}

interface JoinedQueue {
  readonly add: RefreshQueue['add'];
  /** null: another process has it. */
  readonly own: RefreshQueue | null;
}

async function joinQueue(
  { queueRefresh }: Belonging,
  open: () => Promise<RefreshQueue>,
): Promise<JoinedQueue> {
  if (queueRefresh !== undefined) return { add: queueRefresh, own: null };
  const own = await open();
  return { add: own.add, own };
}

function ownRenderer(
  pseudonym: string,
  { file, env, stdout }: StartOptions,
  { log, metrics }: Pick<Foundation, 'log' | 'metrics'>,
): OwnRenderer {
  return createOwnRenderer({
    file,
    env,
    pseudonym,
    output: stdout,
    onEvent: createRendererObserver(log, metrics),
  });
}

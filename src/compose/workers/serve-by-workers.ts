// A gateway in several processes: this one leads, its workers have the listeners.
import { randomBytes } from 'node:crypto';
import { formatSnapshots } from '../../adapters/telemetry/merge-snapshots.ts';
import { createDealer } from '../../adapters/workers/dealer.ts';
import type { LeaseKeeper } from '../../adapters/workers/lease-keeper.ts';
import type { ConfigCopy } from '../../config/config-reader.ts';
import type { Config } from '../../config/settings.ts';
import type { Foundation } from '../foundation.ts';
import type { RuntimeHolder } from '../hold-runtime.ts';
import { openPorts } from '../open-ports.ts';
import { ownProgram } from '../own-program.ts';
import type { Refreshing } from '../refreshing.ts';
import type { Releases } from '../releases.ts';
import { renewWorkerSettings } from '../restart-settings.ts';
import type { Serving } from '../serving.ts';
import { startMember } from './worker-member.ts';
import { WorkerPool } from './worker-pool.ts';

export interface WorkerServing {
  readonly file: string;
  /** The texts that `config` was made of. */
  readonly copy: ConfigCopy;
  readonly count: number;
  readonly leases: LeaseKeeper;
  readonly refreshing: Pick<Refreshing, 'add'>;
  readonly foundation: Foundation;
  readonly runtime: RuntimeHolder;
}

/** As Node's TLS servers take them. */
const TICKET_KEYS_BYTES = 48;
/** How much of what a worker counted is lost when it is killed. */
const GATHER_INTERVAL_MS = 1_000;

export async function serveByWorkers(
  { settings }: Config,
  { file, copy, count, leases, refreshing, foundation, runtime }: WorkerServing,
  releases: Releases,
): Promise<Serving> {
  const { log, metrics, renderer, lasting } = foundation;
  const { onDefect } = lasting.pipeline;
  const program = ownProgram('worker-main');
  const dealer = createDealer(settings.server.limits.connectionsMax);
  releases.add(dealer.close);
  const ports = await openPorts(settings, { isPaused: true, onConnection: dealer.deal }, releases);
  const ticketKeys = randomBytes(TICKET_KEYS_BYTES).toString('base64');
  let lastWorker = 0;
  const pool = new WorkerPool({
    count,
    plan: { copy, atStart: settings },
    log,
    metrics,
    fork: (plan) => {
      lastWorker += 1;
      const { pseudonym } = lasting;
      return startMember({
        program,
        assignment: { worker: lastWorker, file, ...plan, pseudonym, ticketKeys },
        renderer,
        leases,
        dealer,
        queueRefresh: refreshing.add,
        onDefect,
      });
    },
  });
  releases.add(() => pool.stop());
  await pool.start();
  const timer = setInterval(() => void pool.snapshots().catch(onDefect), GATHER_INTERVAL_MS);
  releases.add(() => clearInterval(timer));
  return {
    addresses: ports.addresses,
    settingsAtStart: () => pool.plan.atStart,
    accepting: () => (pool.size > 0 ? 'ok' : 'no worker serves'),
    change: async (next, nextCopy) => await runtime.change(next, () => pool.reload(nextCopy)),
    restart: async () => {
      const { settings: newest } = runtime.current().config;
      return await pool.replaceAll(renewWorkerSettings(newest, pool.plan.atStart));
    },
    renderMetrics: async () =>
      await formatSnapshots([await metrics.snapshot(), ...(await pool.snapshots())]),
    stop: async () => {
      ports.close();
      await pool.stop();
    },
  };
}

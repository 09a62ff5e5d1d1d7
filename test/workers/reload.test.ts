// Reload with workers: all or none, and when it is answered all have it.
import { expect, test } from 'vitest';
import { ask, BOT, page } from '../scenario/stage.ts';
import { type ClientAnswer, startClients } from './steady-clients.ts';
import { startWorkerGateway, untilTrue, type WorkerGateway } from './worker-gateway.ts';

const WORKERS = 3;
const TIMEOUT_MS = 240_000;

/** A rule whose status and header tell the version. */
function versioned(version: number): string {
  const answer = `status: {code: ${410 + version}, headers: {X-Version: "${version}"}}`;
  return `url_rules: [{id: v${version}, match: /rule, action: status, ${answer}}]\n`;
}

function versionOf({ status, headers }: ClientAnswer): number {
  const version = Number(headers['x-version']);
  return status === 410 + version ? version : Number.NaN;
}

/** What new connections are answered; there are more of them than workers. */
async function statuses({ port }: WorkerGateway): Promise<ReadonlySet<number>> {
  const asked = Array.from({ length: 8 * WORKERS }, () => ask(port, '/rule'));
  const answers = await Promise.all(asked);
  return new Set(answers.map(({ status }) => status));
}

test(
  'under load: after the answer nobody gets the old one, and no request is lost',
  async () => {
    const gateway = await startWorkerGateway({ workers: WORKERS, origin: () => page('a page') });
    await gateway.writeHost(versioned(0));
    expect((await gateway.admin('/reload', 'POST')).status).toBe(200);
    let least = 0;
    const clients = startClients({
      port: gateway.port,
      keepAlive: 4,
      newConnections: 2,
      userAgent: BOT,
      // Whoever asks after a reload was answered must get it, or a later one.
      target: () => `/rule?least=${least}`,
      isRight: (answer) => versionOf(answer) >= Number(/least=(\d+)/.exec(answer.target)?.[1]),
    });
    for (let version = 1; version <= 8; version += 1) {
      await gateway.writeHost(versioned(version));
      expect((await gateway.admin('/reload', 'POST')).status).toBe(200);
      least = version;
      const before = clients.answered();
      await untilTrue('requests go on', () => clients.answered() > before + 20);
    }
    await clients.stop();
    expect(clients.failures).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  'a broken file changes nobody, nor whoever starts meanwhile; then a good one all',
  async () => {
    const gateway = await startWorkerGateway({ workers: WORKERS, origin: () => page('a page') });
    await gateway.writeHost(versioned(1));
    expect((await gateway.admin('/reload', 'POST')).status).toBe(200);
    await gateway.writeHost('url_rulez: []\n');
    const refused = await gateway.admin('/reload', 'POST');
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.text)).toMatchObject({
      applied: false,
      diagnostics: [expect.stringMatching(/hosts\.yaml:5:5: .*url_rulez/s)],
    });
    expect(gateway.log.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(await statuses(gateway)).toEqual(new Set([411]));

    for (const pid of gateway.workers().values()) process.kill(pid, 'SIGKILL');
    await untilTrue('all are gone', () => gateway.workers().size === 0);
    await untilTrue('new ones serve', () => gateway.workers().size === WORKERS);
    expect(await statuses(gateway)).toEqual(new Set([411]));

    await gateway.writeHost(versioned(2));
    gateway.child.kill('SIGHUP');
    await untilTrue('a good one counts', async () => {
      const seen = await statuses(gateway);
      return seen.size === 1 && seen.has(412);
    });
  },
  TIMEOUT_MS,
);

test(
  'settings of the start stay as they are, for those who come later too',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    const { text } = await gateway.admin('/reload', 'POST');
    expect(JSON.parse(text)).toEqual({ applied: true, diagnostics: [], needs_restart: [] });
    const [[worker = 0, pid = 0] = []] = gateway.workers();
    process.kill(pid, 'SIGKILL');
    await untilTrue('its end is noticed', () => !gateway.workers().has(worker));
    await untilTrue('another one serves', () => gateway.workers().size === 2);
    expect(await gateway.metric('edge_gateway_config_reloads_total')).toBe(1);
  },
  TIMEOUT_MS,
);

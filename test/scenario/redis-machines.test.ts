// Two machines without a shared disk: metadata and pages are in Redis, of whatever kind.
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTestGateway } from '../helpers/gateway.ts';
import { postPurge } from '../helpers/post-purge.ts';
import { startRedisCluster } from '../helpers/redis-cluster.ts';
import { startSentinelGroup } from '../helpers/redis-sentinel.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { expectChanged, PASSED_ON, startChanging } from './changed-elsewhere.ts';
import { hostsText, page, type Stage, setStage } from './stage.ts';

interface Started {
  /** The `redis` block. */
  readonly block: string;
  readonly stop: () => Promise<void>;
}

const KINDS: readonly (readonly [name: string, start: () => Promise<Started>])[] = [
  [
    'one server',
    async () => {
      const { url, stop } = await startRedisServer();
      return { block: `{url: "${url}"}`, stop };
    },
  ],
  [
    'Sentinel',
    async () => {
      const { sentinel, name, stop } = await startSentinelGroup();
      return { block: `{sentinels: ["${sentinel}"], name: ${name}}`, stop };
    },
  ],
  [
    'a Cluster',
    async () => {
      const { nodes, stop } = await startRedisCluster();
      return { block: `{cluster: [${nodes.map((node) => `"${node}"`).join(', ')}]}`, stop };
    },
  ],
];

describeWithRedis('machines', () => {
  test.each(KINDS)(
    '%s: what one stores the other serves, what one purges is gone',
    async (_name, start) => {
      const redis = await start();
      onTestFinished(redis.stop);
      const gateway = `storage:\n  bodies: redis\nredis: ${redis.block}\n`;
      let version = 'first';
      const origin = () => page(version);
      const [one, other] = [
        await setStage({ gateway, origin }),
        await setStage({ gateway, origin }),
      ];
      expect((await one.ask('/')).header('X-Render-Cache')).toBe('new');
      await waitUntil('the page is stored', () => isHit(other));
      expect(await one.ask('/')).toMatchObject({ status: 200, body: 'first' });
      expect(await pageFiles(one)).toEqual([]);
      version = 'second';
      const { answer: purged } = await postPurge(one.gateway.adminPort, { host: 'site.test' });
      expect(purged).toMatchObject({ entries: 1 });
      const replies = [await other.ask('/'), await one.ask('/')];
      expect(replies.map(({ status, body }) => [status, body])).toEqual([
        [200, 'second'],
        [200, 'second'],
      ]);
    },
  );

  test('what a POST to one changes the other has too', async () => {
    const redis = await startRedisServer();
    onTestFinished(redis.stop);
    const origin = await startChanging();
    const gateway = `storage:\n  bodies: redis\nredis: {url: "${redis.url}"}\n`;
    const hosts = hostsText(origin.url, { host: PASSED_ON });
    const all = [
      await startTestGateway({ gateway, hosts }),
      await startTestGateway({ gateway, hosts }),
    ] as const;
    for (const one of all) onTestFinished(one.close);
    await expectChanged(all, origin);
  }, 120_000);
});

async function isHit(stage: Stage): Promise<boolean> {
  return (await stage.ask('/')).header('X-Render-Cache') === 'hit';
}

async function pageFiles(stage: Stage): Promise<readonly string[]> {
  const folder = join(stage.gateway.folder, 'data', 'pages');
  await mkdir(folder, { recursive: true });
  return await readdir(folder);
}

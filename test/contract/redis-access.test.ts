// Redis behind TLS, and with a user who may do no more than the README says.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RedisStoresWarning } from '../../src/adapters/redis/connect-redis-stores.ts';
import type { RedisTarget } from '../../src/core/redis-target.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { readFile } from '../tidy/files.ts';
import { describeBodyStore } from './body-store.contract.ts';
import { connectStores, waitForTrust } from './open-redis-stores.ts';
import { KEY, purgeAll, put, readStamp } from './redis-stage.ts';

/** As it is in the README for whoever pastes it: one line. */
const [, RIGHTS = ''] =
  /^ACL SETUSER gateway on >PASSWORD (resetchannels .+)$/m.exec(readFile('README.md')) ?? [];

describeWithRedis('TLS', () => {
  let folder: string;
  let server: RedisServer;
  let port: number;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edge-gateway-redis-tls-'));
    const { cert, key } = makeCertificate('127.0.0.1');
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    port = await findFreePort();
    server = await startRedisServer({
      args: [
        ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
        ...['--tls-cert-file', join(folder, 'cert.pem'), '--tls-key-file', join(folder, 'key.pem')],
      ],
    });
  });
  afterEach(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a server whose certificate is believed is used for everything', async () => {
    const target: RedisTarget = { kind: 'single', url: `rediss://127.0.0.1:${port}` };
    const fixture = join(import.meta.dirname, 'fixtures', 'use-redis.ts');
    const program = ['--import', 'tsx', fixture, JSON.stringify(target)];
    const { stdout } = await promisify(execFile)(process.execPath, program, {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') },
    });
    expect(stdout).toBe('done\nfound\ndone\n');
  });

  test('a server whose certificate is not believed is not', async () => {
    const warnings: RedisStoresWarning[] = [];
    const stores = await connectStores(`rediss://:secret@127.0.0.1:${port}`, {
      onWarning: (warning) => warnings.push(warning),
    });
    expect(await stores.entries.check()).toMatchObject({ state: 'unavailable' });
    expect(warnings).toMatchObject([
      { kind: 'redis_unavailable', reason: 'depth_zero_self_signed_cert' },
    ]);
    expect(JSON.stringify(warnings)).not.toContain('secret');
    await stores.close();
  });
});

describeWithRedis('a user with few rights', () => {
  let server: RedisServer;
  let raw: Redis;
  const url = (): string => `redis://gateway:s%3Acret@127.0.0.1:${server.port}`;
  beforeEach(async () => {
    server = await startRedisServer();
    raw = new Redis(server.url);
    await raw.call('ACL', 'SETUSER', 'gateway', 'on', '>s:cret', ...RIGHTS.split(' '));
  });
  afterEach(async () => {
    await raw.quit();
    await server.stop();
  });

  test('can do everything that is needed', async () => {
    const stores = await connectStores(url());
    await put(stores);
    await readStamp(stores);
    for await (const page of stores.entries.entries({})) expect(page.state).toBe('done');
    await waitForTrust(stores);
    await purgeAll(stores);
    expect(await stores.entries.check()).toMatchObject({ state: 'done' });
    expect(await stores.checkEviction()).toBeNull();
    const turn = await stores.leases.enter(KEY);
    if (turn.role !== 'leader') throw new Error(turn.role);
    await turn.lease.release({ outcome: 'stored', reason: null });
    await stores.close();
    const log = (await raw.call('ACL', 'LOG')) as readonly unknown[];
    expect(log).toEqual([]);
  });

  test('and without the right to messages: memory is not trusted, and that is said', async () => {
    await raw.call('ACL', 'SETUSER', 'gateway', 'resetchannels');
    const warnings: RedisStoresWarning[] = [];
    const stores = await connectStores(url(), { onWarning: (warning) => warnings.push(warning) });
    await readStamp(stores).catch(() => undefined);
    expect(stores.entries.isCurrent(KEY, 1)).toBe(false);
    expect(await stores.entries.get(KEY)).toEqual({ state: 'absent' });
    await expect
      .poll(() => warnings, { timeout: 10_000 })
      .toEqual([
        {
          kind: 'redis_unavailable',
          server: `127.0.0.1:${server.port}`,
          use: 'messages',
          reason: 'noperm',
        },
      ]);
    await stores.close();
  });

  describeBodyStore('redis, as that user', async () => {
    const { bodies, close } = await connectStores(url());
    if (bodies === null) throw new Error('no store for bodies');
    return { store: bodies, dispose: close };
  });
});

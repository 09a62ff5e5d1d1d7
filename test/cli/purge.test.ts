// `purge`: by URL in any spelling, pattern, tag, host and all; hard, soft, taken back or only
// counted; also beside a gateway that is serving.
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../helpers/gateway.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { finishCommand, runCommand, startCommand, withFiles } from './run-command.ts';
import { ask, STORED_PATHS, type StoredPages, storePages } from './stored-pages.ts';

const BLUE = 'https://shop.example/products?color=blue';
const DIRTY_BLUE = 'HTTPS://SHOP.example:443//products?utm_source=x&color=blue#top';

describe('on a stopped gateway’s store', () => {
  let stored: StoredPages;

  beforeEach(async () => {
    stored = await storePages();
    await stored.gateway.stop();
    return () => stored.close();
  });

  async function purge(...argv: readonly string[]) {
    return await runCommand(['purge', ...argv, ...stored.config]);
  }

  test('counts first, then takes all dimensions of a page, under any spelling', async () => {
    const ok = { status: 0, stderr: '' };
    const counted = await purge(DIRTY_BLUE, '--dry-run');
    expect(counted).toEqual({ ...ok, stdout: `2 entries would go: ${BLUE}\n` });
    expect(await purge(DIRTY_BLUE)).toEqual({ ...ok, stdout: `2 entries purged: ${BLUE}\n` });
    expect(await purge(DIRTY_BLUE)).toEqual({ ...ok, stdout: `0 entries purged: ${BLUE}\n` });
  });

  test('takes a host by its domain or id, and nothing of another', async () => {
    expect((await purge('--host', '2')).stdout).toBe('0 entries purged: host empty.example\n');
    expect((await purge('--host', 'SHOP.example', '--dry-run')).stdout).toBe(
      '4 entries would go: host shop.example\n',
    );
    expect((await purge('--host', 'www.shop.example')).stdout).toBe(
      '4 entries purged: host shop.example\n',
    );
    expect((await purge('--host', '1')).stdout).toBe('0 entries purged: host shop.example\n');
  });

  test('--soft only marks stale', async () => {
    const explained = async (): Promise<unknown> =>
      JSON.parse((await runCommand(['explain', BLUE, '--json', ...stored.config])).stdout);
    expect((await purge('--host', '1', '--soft')).stdout).toBe(
      '4 entries marked stale: host shop.example (take back: --undo 1)\n',
    );
    expect(await explained()).toMatchObject({ cached: 'stale', would: 'refresh' });
    const fresh = { status: 0, stderr: '' };
    expect(await purge('--undo', '1', '--dry-run')).toEqual({
      ...fresh,
      stdout: '4 entries would be fresh again: host shop.example\n',
    });
    expect(await purge('--undo', '1')).toEqual({
      ...fresh,
      stdout: '4 entries fresh again: host shop.example\n',
    });
    expect(await explained()).toMatchObject({ cached: 'fresh' });
    expect((await purge('--undo', '1')).stderr).toContain('it was taken back already');
    expect((await purge('--undo', '2')).stderr).toContain('only a soft purge');
    expect((await purge('--undo', '77')).stderr).toContain('there is no such purge');
    await purge(BLUE);
    expect((await purge('--undo', '3')).stderr).toContain('only a soft purge');
  });

  test.each([
    [['--pattern', '/products*'], '3 entries purged: pattern /products*'],
    [['--pattern', '/BLOG'], '1 entry purged: pattern /BLOG'],
    [['--pattern', '*', '--host', '1'], '4 entries purged: pattern * of host shop.example'],
    [
      ['--pattern', '*', '--host', 'empty.example'],
      '0 entries purged: pattern * of host empty.example',
    ],
    [['--pattern', '~^/b', '--dry-run'], '1 entry would go: pattern ~^/b'],
    [['--tag', 'x'], '0 entries purged: tag x'],
    [['--tag', 'x', '--host', '1'], '0 entries purged: tag x of host shop.example'],
    [['--all'], '4 entries purged: all'],
  ])('%j', async (argv, stdout) => {
    expect(await purge(...argv)).toEqual({ status: 0, stdout: `${stdout}\n`, stderr: '' });
  });

  test('--json says the same in one object', async () => {
    const { stdout } = await purge(DIRTY_BLUE, '--dry-run', '--json');
    const report = {
      id: null,
      entries: 2,
      newer: 0,
      url: BLUE,
      pattern: null,
      tag: null,
      host: 1,
      all: false,
      soft: false,
      undoes: null,
      dry_run: true,
    };
    expect(JSON.parse(stdout)).toEqual(report);
    const purged = await purge(DIRTY_BLUE, '--json');
    expect(JSON.parse(purged.stdout)).toEqual({ ...report, id: 1, dry_run: false });
  });

  test.each([
    [['https://unknown.example/'], 'this host is not configured: "unknown.example"'],
    [['http://Nope:80/a?b'], 'this host is not configured: "nope"'],
    [['--host', 'unknown.example'], 'this host is not configured: "unknown.example"'],
    [['--host', ''], 'this host is not configured: ""'],
    [['--tag', 'a b'], 'a tag has 1 to 256 printable characters'],
    [['--pattern', 'news'], 'not a pattern: "news" matches no path: write "/news"'],
    [['--pattern', '~('], 'not a pattern: bad regular expression'],
    [['--pattern', '*', '--host', 'unknown.example'], 'this host is not configured'],
    [['ftp://shop.example/'], 'not a URL that could be stored: unsupported_scheme'],
    [['https://user@shop.example/'], 'not a URL that could be stored: credentials'],
  ])('%j fails', async (argv, message) => {
    const { status, stdout, stderr } = await purge(...argv);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('without a store', () => {
  const files = {
    'edge-gateway.yaml': 'render: { engine: origin }\n',
    'hosts.yaml': 'hosts:\n  - { id: 1, domain: shop.example }\n',
  };

  test('there is nothing to purge, and looking creates nothing', async () => {
    await withFiles(files, async (folder) => {
      const config = ['-c', `${folder}/edge-gateway.yaml`];
      const { status, stdout, stderr } = await runCommand(['purge', BLUE, '--json', ...config]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ id: null, entries: 0, url: BLUE, host: 1 });
      expect((await runCommand(['purge', '--undo', '1', ...config])).status).toBe(1);
      // A mistake is one, also while nothing is stored.
      expect((await runCommand(['purge', 'https://other.example/', ...config])).status).toBe(1);
      expect((await readdir(folder)).toSorted()).toEqual(['edge-gateway.yaml', 'hosts.yaml']);
    });
  });

  test('one that cannot be reached is a failure', async () => {
    const gateway = `${files['edge-gateway.yaml']}redis: { url: "redis://127.0.0.1:1" }\n`;
    await withFiles({ ...files, 'edge-gateway.yaml': gateway }, async (folder) => {
      const config = ['-c', `${folder}/edge-gateway.yaml`];
      for (const argv of [[BLUE], ['--host', '1']]) {
        const { status, stderr } = await runCommand(['purge', ...argv, ...config]);
        expect(status).toBe(1);
        expect(stderr).toContain("Redis at 127.0.0.1:1 can't be used for commands: ");
        expect(stderr).toContain('the store could not be reached, nothing was purged');
        expect(stderr).not.toContain('{');
      }
    });
  });
});

describe('beside a running gateway', () => {
  let stored: StoredPages;
  beforeAll(async () => {
    stored = await storePages();
  });
  afterAll(() => stored.close());

  test('a purge from another process counts at once', async () => {
    const { port } = stored.gateway;
    expect(await ask(port, STORED_PATHS[0])).toBe('hit');
    const child = startCommand(['purge', DIRTY_BLUE, ...stored.config]);
    expect(await finishCommand(child)).toMatchObject({
      status: 0,
      stdout: `2 entries purged: ${BLUE}\n`,
    });
    expect(await ask(port, STORED_PATHS[0])).toBe('new');
    expect(await ask(port, STORED_PATHS[1])).toBe('hit');
  });

  test('what requests have got anew is told apart', async () => {
    const { port } = stored.gateway;
    const purge = async (...argv: readonly string[]): Promise<string> =>
      (await runCommand(['purge', ...argv, ...stored.config])).stdout;
    const { id, entries } = JSON.parse(await purge('--host', '1', '--soft', '--json'));
    expect(await ask(port, STORED_PATHS[2])).toBe('stale');
    await waitUntil('it is renewed', async () => (await ask(port, STORED_PATHS[2])) === 'hit');
    expect(await purge('--undo', String(id))).toBe(
      `${entries - 1} entries fresh again, 1 newer already: host shop.example\n`,
    );
  });
});

test('a gateway that starts later serves what is left', async () => {
  const stored = await storePages();
  try {
    await stored.gateway.stop();
    await runCommand(['purge', BLUE, ...stored.config]);
    const again = await startTestGateway({
      folder: stored.gateway.folder,
      gateway: 'render: { engine: origin }\nlog: { level: silent }\n',
      hosts: `hosts:\n  - { id: 1, domain: shop.example, origin: ${stored.site.url} }\n`,
    });
    expect(await ask(again.port, STORED_PATHS[0])).toBe('new');
    expect(await ask(again.port, STORED_PATHS[1])).toBe('hit');
    await again.stop();
  } finally {
    await stored.close();
  }
});

// `verify`: exit statuses and what is printed, on the store of a gateway that stands or serves.
import { appendFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { runCommand, withFiles } from './run-command.ts';
import { ask, STORED_PATHS, type StoredPages, storePages } from './stored-pages.ts';

let stored: StoredPages;
beforeEach(async () => {
  stored = await storePages();
  return () => stored.close();
});

const verify = async (...argv: readonly string[]) =>
  await runCommand(['verify', ...argv, ...stored.config]);

/** The identity files of the stored pages. */
const files = (): readonly string[] =>
  readdirSync(join(stored.gateway.folder, 'data', 'pages', '1'), {
    recursive: true,
    encoding: 'utf8',
  })
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(stored.gateway.folder, 'data', 'pages', '1', name));

/** Pages with equal bodies share one file: what is done to it is done to both. */
function unsharedFiles(): readonly string[] {
  const inodes = files().map((file) => statSync(file).ino);
  return files().filter((_file, at) => inodes.filter((ino) => ino === inodes[at]).length === 1);
}

test('a whole store, beside the gateway that serves it', async () => {
  const { status, stdout, stderr } = await verify();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^4 entries whole, \d+ bytes, 0 problems\n$/);
  expect((await verify('--verbose')).stdout).toMatch(
    /^host 1 \(shop\.example\): 4 entries, \d+ bytes, 0 problems\n4 entries whole, /,
  );
  expect(await ask(stored.gateway.port, STORED_PATHS[0])).toBe('hit');
});

test('a spoilt body: told, then removed on request, then fetched anew', async () => {
  const [spoilt = '', gone = ''] = unsharedFiles();
  appendFileSync(spoilt, '.');
  rmSync(gone);
  const told = await verify();
  expect(told.status).toBe(1);
  expect(told.stdout).toMatch(
    /^body_damaged cache:1:\d:[0-9a-f]{16} https:\/\/shop.example\/\S+ identity: wrong_length$/m,
  );
  expect(told.stdout).toMatch(
    /^body_missing cache:1:\d:[0-9a-f]{16} https:\/\/shop.example\/\S+$/m,
  );
  expect(told.stdout).toMatch(
    /^host 1 \(shop\.example\): 2 entries, \d+ bytes, 2 problems\n2 entries whole, .+, 2 problems$/m,
  );
  const quick = await verify('--quick');
  expect(quick.stdout).toMatch(/^3 entries whole, \d+ bytes, 1 problem$/m);
  const repaired = await verify('--repair');
  expect(repaired.status).toBe(0);
  expect(repaired.stdout).toMatch(/ removed$/m);
  expect(repaired.stdout).toMatch(/^2 entries whole, \d+ bytes, 2 problems, all removed$/m);
  expect((await verify()).stdout).toMatch(/^2 entries whole, \d+ bytes, 0 problems$/m);
  for (const path of STORED_PATHS) await ask(stored.gateway.port, path);
  expect((await verify()).status).toBe(0);
});

test('--json: one object a line, the sums last', async () => {
  rmSync(files()[0] ?? '');
  const { status, stdout } = await verify('--json');
  expect(status).toBe(1);
  const [problem, sums] = stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(problem).toEqual({
    problem: 'body_missing',
    key: expect.stringMatching(/^cache:1:/),
    url: expect.stringMatching(/^https:\/\/shop\.example\//),
    detail: null,
    repaired: false,
  });
  expect(sums).toEqual({
    hosts: [{ id: 1, domain: 'shop.example', entries: 3, bytes: expect.any(Number), problems: 1 }],
    expired: 0,
    purged: 0,
    foreign: 0,
    problems: 1,
    repaired: 0,
  });
});

test('where nothing was ever stored: no problem, and nothing is created', async () => {
  const config = {
    'edge-gateway.yaml': 'storage: {base_path: ./data}\n',
    'hosts.yaml': 'hosts: []\n',
  };
  await withFiles(config, async (folder) => {
    const { status, stdout } = await runCommand([
      'verify',
      '-c',
      join(folder, 'edge-gateway.yaml'),
    ]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: '0 entries whole, 0 bytes, 0 problems\n',
    });
    expect(readdirSync(folder)).not.toContain('data');
  });
});

// Host → exit status, what is printed.
test.each([
  [
    'SHOP.example',
    1,
    /^body_missing .+\nhost 1 \(shop\.example\): 3 entries, .+\n3 entries whole, /,
  ],
  ['1', 1, /3 entries whole, /],
  ['empty.example', 0, /^0 entries whole, 0 bytes, 0 problems\n$/],
  ['other.example', 1, /^$/],
])('--host %s', async (host, status, text) => {
  rmSync(files()[0] ?? '');
  const found = await verify('--host', host);
  expect(found.status).toBe(status);
  expect(found.stdout).toMatch(text);
});

test('hosts with problems, in the order of their ids, also one that is configured no more', async () => {
  const basePath = join(stored.gateway.folder, 'data');
  const options = { basePath, clock: systemClock, onWarning: () => undefined };
  const { environment } = openEmbedded(options);
  for (const id of [109, 10, 2]) await environment.put(`cache:${id}:1:0123456789abcdef`, '{', 7);
  await environment.close();
  const { stdout } = await verify();
  expect(stdout.match(/^host .+$/gm)).toEqual([
    'host 2 (empty.example): 0 entries, 0 bytes, 1 problem',
    'host 10 (not configured): 0 entries, 0 bytes, 1 problem',
    'host 109 (not configured): 0 entries, 0 bytes, 1 problem',
  ]);
  expect((await verify('--host', '2')).stdout.match(/^damaged /gm)).toHaveLength(1);
});

test('a broken configuration is 1, and wrong usage is 2', async () => {
  expect((await runCommand(['verify', '-c', '/nowhere.yaml'])).status).toBe(1);
  expect((await runCommand(['verify', 'now'])).status).toBe(2);
});

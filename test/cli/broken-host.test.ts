// One broken file of many: commands go on by the running gateway, and say which file it is.
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { page } from '../scenario/stage.ts';
import { type RunningSite, startRunningSite } from './running-site.ts';

const BROKEN = 'hosts:\n  - id: 2\n    domain: other.test\n    orign: http://127.0.0.1:9\n';
const PLACE = /other\.hosts\.yaml:4:5: error: unknown key "orign"\n {2}hint: did you mean "origin"/;
const ASKED = 'edge-gateway: warning: the files on disk have errors; the running gateway is asked';

async function startBroken(token?: string): Promise<RunningSite> {
  const site = await startRunningSite({
    answer: ({ target }) => page(target, 'Cache-Tag: news'),
    ...(token === undefined ? {} : { token }),
  });
  await site.run(['warm', '-'], { stdin: listOf('/a', '/b') });
  await site.writeHost('other', BROKEN);
  return site;
}

function listOf(...paths: readonly string[]): Readable {
  return Readable.from([paths.map((path) => `http://site.test${path}\n`).join('')]);
}

describe('the running gateway is asked', () => {
  // Arguments → what is printed.
  const PURGES: readonly (readonly [readonly string[], string])[] = [
    [['http://SITE.test//a?utm_source=x'], '1 entry purged: https://site.test/a\n'],
    [['--pattern', '/*', '--dry-run'], '2 entries would go: pattern /*\n'],
    [['--tag', 'news', '--host', '1'], '2 entries purged: tag news of host 1\n'],
    [['--host', 'site.test', '--soft'], '2 entries marked stale: host 1 (take back: --undo 1)\n'],
    [['--all'], '2 entries purged: all\n'],
  ];

  test.each(PURGES)('purge %j', async (argv, stdout) => {
    const { run } = await startBroken();
    const done = await run(['purge', ...argv]);
    expect(done).toMatchObject({ status: 0, stdout });
    expect(done.stderr).toMatch(PLACE);
    expect(done.stderr).toContain(ASKED);
  });

  test('purge --json, --undo, and what is refused', async () => {
    const { run } = await startBroken('a-secret');
    await run(['purge', '--all', '--soft']);
    const undone = await run(['purge', '--undo', '1', '--json']);
    expect(JSON.parse(undone.stdout)).toMatchObject({ entries: 2, all: true, undoes: 1 });
    const refused = await run(['purge', 'http://nope/']);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('this host is not configured: "nope"');
  });

  test('recache and warm', async () => {
    const { run, origin } = await startBroken();
    expect(await run(['recache', 'http://site.test/a'])).toMatchObject({
      status: 0,
      stdout: 'accepted: 1 of the URLs, 1 pages\n',
      stderr: expect.stringContaining(ASKED),
    });
    const warmed = await run(['warm', '-'], { stdin: listOf('/c') });
    expect(warmed.stdout).toBe('1 of 1 URL, 1 page: 0 fresh, 1 rendered\n');
    expect(origin.requests.map(({ target }) => target)).toContain('/c');
  });

  test('explain: the same, by what runs', async () => {
    const { run, writeHost } = await startBroken();
    const argv = ['explain', 'http://site.test/a?gclid=1', '-A', 'Googlebot', '--method', 'get'];
    const byGateway = await run(argv);
    expect(byGateway.stderr).toContain(ASKED);
    expect(byGateway.stdout).toMatch(/^cached +fresh$/m);
    const post = await run(['explain', 'http://site.test/a', '--method', 'post', '--json']);
    expect(JSON.parse(post.stdout)).toMatchObject({ action: 'bypass', reason: 'method' });
    await writeHost('other', 'hosts: []\n');
    expect(await run(argv)).toEqual({ ...byGateway, stderr: '' });
    await writeHost('other', BROKEN);
    const wrong = await run(['explain', 'https://user@site.test/']);
    expect(wrong).toMatchObject({ status: 1, stdout: expect.stringContaining('credentials') });
  });
});

test.each(['purge --all', 'explain http://site.test/', 'recache http://site.test/'])(
  'without a gateway %s fails, and both reasons are told',
  async (line) => {
    const { run, stop, adminPort } = await startBroken();
    await stop();
    const { status, stdout, stderr } = await run(line.split(' '));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(PLACE);
    expect(stderr).toContain(`nobody answers at 127.0.0.1:${adminPort} (admin.listen)`);
  },
);

test('what needs the files themselves fails as it is', async () => {
  const { run } = await startBroken();
  for (const command of ['verify', 'check']) {
    const { status, stderr } = await run([command]);
    expect(status).toBe(1);
    expect(stderr).toMatch(PLACE);
    expect(stderr).not.toContain(ASKED);
  }
});

test('nobody is asked where the file does not say who', async () => {
  const { run, writeGateway } = await startBroken();
  await writeGateway('admin: {}\n');
  const { status, stderr } = await run(['purge', '--all']);
  expect(status).toBe(1);
  expect(stderr).not.toContain(ASKED);
});

// `warm` and `recache` against a running gateway, with real sitemaps on a real server.

import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, hostsText, page } from '../scenario/stage.ts';
import { runCommand, withFiles } from './run-command.ts';
import { type RunningSite, startRunningSite } from './running-site.ts';

const startSite = (token?: string): Promise<RunningSite> =>
  startRunningSite({
    answer: ({ target }) => {
      if (target === '/broken') return answer(500, 'x', 'Content-Type: text/html');
      if (target.startsWith('/secret')) return page('x', 'Set-Cookie: a=1');
      if (target.startsWith('/gone')) return answer(404, 'gone', 'Content-Type: text/html');
      return page(target);
    },
    ...(token === undefined ? {} : { token }),
  });

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const pagesOf = (...paths: readonly string[]): string =>
  `<urlset>${paths.map((path) => `<url><loc>http://site.test${path}</loc></url>`).join('')}</urlset>`;

const indexOf = (...urls: readonly string[]): string =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;

describe('warm', () => {
  test('a list in a file: rendered, then fresh', async () => {
    const { run, origin } = await startSite();
    const urls = Array.from({ length: 150 }, (_, n) => `http://site.test/p${n}`);
    await withFiles({ 'list.txt': `# pages\n${urls.join('\r\n')}\n` }, async (folder) => {
      const first = await run(['warm', join(folder, 'list.txt'), '--concurrency', '120']);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      expect(first.stdout).toBe('150 of 150 URLs, 150 pages: 0 fresh, 150 rendered\n');
      const second = await run(['warm', join(folder, 'list.txt')]);
      expect(second.stdout).toBe('150 of 150 URLs, 150 pages: 150 fresh, 0 rendered\n');
    });
    expect(origin.requests).toHaveLength(150);
  });

  test('an index of packed and plain sitemaps; elsewhere is left out', async () => {
    const { run } = await startSite();
    const base = await serve((request, response) => {
      const { url = '' } = request;
      if (url === '/moved') response.writeHead(301, { location: '/index.xml' }).end();
      else if (url === '/index.xml') {
        response.end(indexOf(`${base}/a.xml.gz`, `${base}/b.xml`, 'http://elsewhere.test/c.xml'));
      } else if (url === '/a.xml.gz') response.end(gzipSync(pagesOf('/a1', '/a2')));
      else if (url === '/b.xml') response.end(pagesOf('/b1'));
      else response.writeHead(404).end();
    });
    const { status, stdout, stderr } = await run(['warm', `${base}/moved`]);
    expect(stdout).toBe('3 of 3 URLs, 3 pages: 0 fresh, 3 rendered\n');
    expect(stderr).toContain('http://elsewhere.test/c.xml: it is on no configured host');
    expect(status).toBe(1);
  });

  test('standard input; what is no page, and what may not be kept', async () => {
    const { run } = await startSite();
    const list = ['/a', '/secret', '/style.css', '/gone'].map((path) => `http://site.test${path}`);
    const stdin = Readable.from([`${list.join('\n')}\nhttp://elsewhere.test/\n`]);
    const { status, stdout, stderr } = await run(['warm', '-'], { stdin });
    expect(stdout).toBe(
      '5 of 5 URLs, 3 pages: 0 fresh, 2 rendered, 1 not to be kept; 2 URLs refused\n',
    );
    expect(stderr).toContain('refused: http://site.test/style.css: not_a_page');
    expect(stderr).toContain('refused: http://elsewhere.test/: unknown_host');
    expect(stderr).toContain('stored, an error: http://site.test/gone (crawlers): status_404');
    expect(status).toBe(1);
  });

  // The only URL of a list → exit status.
  test.each([
    ['http://site.test/', 0],
    ['http://site.test/secret', 0],
    ['http://site.test/style.css', 0],
    ['http://elsewhere.test/', 1],
    ['ftp://site.test/', 1],
    ['http://site.test/broken', 1],
  ])('%s: %i', async (url, status) => {
    const { run } = await startSite();
    const stdin = Readable.from([url]);
    expect((await run(['warm', '-', '--tries', '1'], { stdin })).status).toBe(status);
  });

  test('a page that waits for another try keeps no place; one try is no retry', async () => {
    let fails = 0;
    const { run, origin } = await startRunningSite({
      answer: ({ target }) => {
        const isBroken = target === '/broken' || (target === '/once' && fails++ === 0);
        return isBroken ? answer(500, 'x', 'Content-Type: text/html') : page('x');
      },
    });
    const list = ['/once', '/a', '/b'].map((path) => `http://site.test${path}`).join('\n');
    const argv = ['warm', '-', '--concurrency', '1'];
    const done = await run(argv, { stdin: Readable.from([list]) });
    expect(done).toMatchObject({
      status: 0,
      stdout: '3 of 3 URLs, 3 pages: 0 fresh, 3 rendered\n',
    });
    expect(origin.requests.map(({ target }) => target)).toEqual(['/once', '/a', '/b', '/once']);
    const stdin = Readable.from(['http://site.test/broken']);
    const failed = await run([...argv, '--tries', '1'], { stdin });
    expect(failed).toEqual({
      status: 1,
      stdout: '1 of 1 URL, 1 page: 0 fresh, 0 rendered, 1 failed\n',
      stderr: 'failed: http://site.test/broken (crawlers): status_500\n',
    });
  }, 30_000);

  test('what is tried again is told, with the reason; what failed is listed in the end', async () => {
    let asked = 0;
    const { run } = await startRunningSite({
      render: ', timeout: 1s',
      answer: ({ target }) => {
        if (target === '/hangs') return asked++ === 0 ? null : page('x');
        return target.startsWith('/gone') ? answer(404, 'x', 'Content-Type: text/html') : page('x');
      },
    });
    const gone = Array.from({ length: 23 }, (_, n) => `http://site.test/gone${n}`);
    const list = ['http://site.test/hangs', 'http://site.test/a', ...gone].join('\n');
    const { status, stdout, stderr } = await run(['warm', '-'], { stdin: Readable.from([list]) });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: '25 of 25 URLs, 25 pages: 0 fresh, 25 rendered\n',
    });
    const lines = stderr.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^again in 5s: http:\/\/site\.test\/hangs \(crawlers\), because: \w+$/,
    );
    expect(lines.filter((line) => line.startsWith('stored, an error: '))).toHaveLength(20);
    expect(lines.at(-1)).toBe('… and 3 more that failed or are errors');
    const again = await run(['warm', '-', '--json'], { stdin: Readable.from([list]) });
    const objects = again.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects).toHaveLength(26);
    expect(objects).toContainEqual({
      url: 'http://site.test/gone7',
      pages: [{ dimension: 'crawlers', outcome: 'fresh', detail: 'status_404' }],
    });
    expect(objects.at(-1)).toMatchObject({ urls: 25, done: 25, fresh: 25, failed: 0, error: null });
  }, 30_000);

  test('goes on where it was, and starts anew for another list', async () => {
    const { run, origin } = await startSite();
    const list = ['/a', '/b', '/c'].map((path) => `http://site.test${path}`).join('\n');
    await withFiles({ 'list.txt': list }, async (folder) => {
      const file = join(folder, 'list.txt');
      const state = join(folder, 'state.json');
      const argv = ['warm', file, '--resume', state];
      await writeFile(state, JSON.stringify({ source: file, done: 2, counts: { rendered: 2 } }));
      const { stdout } = await run(argv);
      expect(stdout).toContain('going on behind the first 2 of 3');
      expect(stdout).toContain('3 of 3 URLs, 3 pages: 0 fresh, 3 rendered');
      expect(origin.requests.map(({ target }) => target)).toEqual(['/c']);
      await expect(readFile(state)).rejects.toThrow('ENOENT');
      await writeFile(state, JSON.stringify({ source: 'other', done: 2, counts: {} }));
      expect((await run(argv)).stdout).toBe('3 of 3 URLs, 3 pages: 1 fresh, 2 rendered\n');
    });
  });

  test('without a gateway: says so, and keeps how far it got', async () => {
    const port = await findFreePort();
    const files = {
      'edge-gateway.yaml': `admin: {listen: "127.0.0.1:${port}"}\nrender: {engine: origin}\nhosts: {include: hosts.yaml}\n`,
      'hosts.yaml': hostsText('http://127.0.0.1:9'),
      'list.txt': 'http://site.test/',
    };
    await withFiles(files, async (folder) => {
      const state = join(folder, 'state.json');
      const { status, stderr } = await runCommand([
        ...['warm', join(folder, 'list.txt'), '-c', join(folder, 'edge-gateway.yaml')],
        ...['--resume', state],
      ]);
      expect(status).toBe(1);
      expect(stderr).toContain(`nobody answers at 127.0.0.1:${port} (admin.listen)`);
      expect(JSON.parse(await readFile(state, 'utf8'))).toMatchObject({ done: 0 });
    });
  });

  test.each<[string, string, string]>([
    ['broken.xml', '<html>', 'not <urlset>'],
    ['empty.xml', '', 'nothing to warm'],
    ['dtd.xml', '<!DOCTYPE urlset><urlset/>', 'document type'],
  ])('%s', async (name, text, words) => {
    const { run } = await startSite();
    await withFiles({ [name]: text }, async (folder) => {
      const { status, stderr } = await run(['warm', join(folder, name)]);
      expect(status).toBe(1);
      expect(stderr).toContain(words);
    });
  });

  test.each([
    ['no gzip behind its first bytes', Buffer.from([0x1f, 0x8b, 1, 2, 3])],
    ['gzip that was cut off', gzipSync(pagesOf('/a')).subarray(0, 30)],
  ])('%s', async (_name, bytes) => {
    const { run } = await startSite();
    const { status, stderr } = await run(['warm', '-'], { stdin: Readable.from([bytes]) });
    expect(status).toBe(1);
    expect(stderr).toContain('edge-gateway: -: ');
  });

  test('what a list says never controls a terminal', async () => {
    const { run } = await startSite();
    const stdin = Readable.from(['http://site.test/\u001b[2J\n']);
    const { stderr } = await run(['warm', '-'], { stdin });
    expect(stderr).toContain('refused: http://site.test/\\u001b[2J: control_char');
  });

  test('the head comes at once, however long the first page takes', async () => {
    const waiting: Socket[] = [];
    const { adminPort } = await startRunningSite({
      answer: (_request, socket) => {
        waiting.push(socket);
        return null;
      },
    });
    const response = await fetch(`http://127.0.0.1:${adminPort}/warm`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ urls: ['http://site.test/'] }),
    });
    expect(response.status).toBe(200);
    await waitUntil('the page is asked for', () => waiting.length > 0);
    waiting[0]?.write(page('late'));
    const { pages } = JSON.parse(await response.text());
    expect(pages).toMatchObject([{ outcome: 'stored' }]);
  });

  test('a file that is not there, and a token that is asked for', async () => {
    const { run } = await startSite('secret-token');
    expect(await run(['warm', '/nowhere.xml'])).toMatchObject({ status: 1 });
    const stdin = Readable.from(['http://site.test/']);
    expect((await run(['warm', '-'], { stdin })).stdout).toContain('1 rendered');
  });

  test.each([
    [['warm'], 2],
    [['warm', 'a', 'b'], 2],
    [['warm', 'a', '--concurrency', '0'], 2],
    [['warm', 'a', '--tries', '5'], 2],
    [['recache'], 2],
  ])('%j is wrong usage', async (argv, status) => {
    expect((await runCommand(argv)).status).toBe(status);
  });
});

test('recache', async () => {
  const { run } = await startSite();
  const done = await run(['recache', 'http://site.test/a', 'http://site.test/b']);
  expect(done).toEqual({ status: 0, stdout: 'accepted: 2 of the URLs, 2 pages\n', stderr: '' });
  const refused = await run(['recache', 'http://elsewhere.test/']);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('refused: http://elsewhere.test/: unknown_host');
});

// `bots refresh` against real HTTPS servers: what is taken over, what is refused, and that the last
// good copy stays whatever happens.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRangeLists } from '../../src/adapters/bot-lists/create-range-lists.ts';
import { type RefreshedList, refreshGroup } from '../../src/adapters/bot-lists/refresh-lists.ts';
import type { CrawlerGroup, RangeSource } from '../../src/core/bots/crawlers.ts';
import { parseIpAddress } from '../../src/core/bots/ip-address.ts';
import { createTestClock } from '../contract/test-clock.ts';
import { type ListServer, loopbackLookup, startListServer } from './list-server.ts';

const LIST = '{"creationTime":"2026-11-29T22:00:00","prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}';
const OTHER = LIST.replace('192.0.2.0', '198.51.100.0');
const clock = createTestClock();

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-bots-'));
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
  return folder;
}

interface Refresh {
  readonly folder: string;
  readonly server: ListServer;
  /** More servers whose certificates are good. */
  readonly others?: readonly ListServer[];
  readonly path?: string;
  readonly format?: RangeSource['format'];
}

async function refresh(options: Refresh): Promise<RefreshedList> {
  const { folder, server, others = [], path = '/list.json', format = 'prefixes' } = options;
  const group: CrawlerGroup = {
    name: 'owner',
    lists: [{ name: 'owner-list', url: `${server.url}${path}`, format }],
    listDomains: ['owner.test'],
    hostNames: [],
  };
  const ca = [server, ...others].map(({ cert }) => cert);
  const connection = { ca, lookup: loopbackLookup };
  const [report] = await refreshGroup(group, { folder, clock, timeoutMs: 2_000, connection });
  if (report === undefined) throw new Error('no report');
  return report;
}

/** What a gateway reads of the folder. */
async function has(folder: string, address: string): Promise<boolean> {
  const sources = [{ name: 'owner-list', url: '', format: 'prefixes' as const }];
  const lists = await openRangeLists({ folders: [folder], sources, onProblem: () => undefined });
  lists.close();
  const ip = parseIpAddress(address);
  return ip !== null && lists.find('owner-list')?.prefixes.has(ip) === true;
}

describe('a list', () => {
  test('is fetched, written as a whole, and asked for by its ETag the next time', async () => {
    const folder = join(await makeFolder(), 'new', 'bots');
    const server = await startListServer('lists.owner.test', (request, response) => {
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end();
      else response.setHeader('etag', '"v1"').end(LIST);
    });
    expect(await refresh({ folder, server })).toEqual({
      name: 'owner-list',
      outcome: 'updated',
      detail: '1 networks',
    });
    expect(await readdir(folder)).toEqual(['owner-list.json']);
    const file = JSON.parse(await readFile(join(folder, 'owner-list.json'), 'utf8'));
    const fetchedAt = new Date(clock.now()).toISOString();
    expect(file).toEqual({
      ...JSON.parse(LIST),
      url: `${server.url}/list.json`,
      etag: '"v1"',
      fetchedAt,
    });
    expect(await has(folder, '192.0.2.7')).toBe(true);

    clock.advance(86_400_000);
    expect(await refresh({ folder, server })).toMatchObject({ outcome: 'unchanged' });
    const renewed = JSON.parse(await readFile(join(folder, 'owner-list.json'), 'utf8'));
    // Confirmed today: it may refute for another month.
    expect(renewed).toEqual({ ...file, fetchedAt: new Date(clock.now()).toISOString() });
  });

  test('may be plain text', async () => {
    const folder = await makeFolder();
    const server = await startListServer('owner.test', (_request, response) =>
      response.end('192.0.2.0/24\n2001:db8::/32\n'),
    );
    expect(await refresh({ folder, server, format: 'lines' })).toMatchObject({
      detail: '2 networks',
    });
    expect(await has(folder, '2001:db8::1')).toBe(true);
  });

  test('may be redirected within its owner', async () => {
    const folder = await makeFolder();
    const cdn = await startListServer('cdn.owner.test', (_request, response) =>
      response.end(OTHER),
    );
    const server = await startListServer('lists.owner.test', (_request, response) =>
      response.writeHead(302, { location: `${cdn.url}/moved.json` }).end(),
    );
    expect(await refresh({ folder, server, others: [cdn] })).toMatchObject({ outcome: 'updated' });
    expect(await has(folder, '198.51.100.7')).toBe(true);
  });

  test('with a damaged copy at hand is fetched in full', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, 'owner-list.json'), '{"etag":"\\"v1\\"","prefixes":[]}');
    const server = await startListServer('owner.test', (request, response) => {
      if (request.headers['if-none-match'] !== undefined) response.writeHead(304).end();
      else response.end(LIST);
    });
    expect(await refresh({ folder, server })).toMatchObject({ outcome: 'updated' });
  });
});

describe('the last good copy stays', () => {
  const REFUSED: readonly (readonly [string, Parameters<typeof startListServer>[1], RegExp])[] = [
    ['when the list shrank to nothing', (_q, s) => s.end('{"prefixes":[]}'), /an empty list/],
    ['when it is a web page', (_q, s) => s.end('<!doctype html>'), /not a JSON object/],
    ['when one entry is wrong', (_q, s) => s.end(OTHER.replace('/24', '/99')), /not a network/],
    ['when it covers everything', (_q, s) => s.end(OTHER.replace('/24', '/0')), /not a network/],
    ['when it is gone', (_q, s) => s.writeHead(404).end(OTHER), /status 404/],
    ['when it is empty', (_q, s) => s.end(), /not a JSON object/],
    ['when the server fails', (q) => q.socket.destroy(), /./],
    [
      'when it is cut',
      (_q, s) => s.writeHead(200, { 'content-length': 900 }).write('{', () => s.destroy()),
      /./,
    ],
    ['when it is not changed though nobody asked', (_q, s) => s.writeHead(304).end(), /status 304/],
    ['when it never ends', (_q, s) => void s.write('{"prefixes":['), /no answer within 2 s/],
    ['when it never answers', () => undefined, /no answer within 2 s/],
    [
      'when it is enormous',
      (_q, s) => s.end(Buffer.alloc(9 * 1024 * 1024, 32)),
      /more than 8388608 bytes/,
    ],
    [
      'when it leaves https',
      (_q, s) => s.writeHead(301, { location: 'http://owner.test/' }).end(),
      /not https/,
    ],
    [
      'when it leads to another owner',
      (_q, s) => s.writeHead(301, { location: 'https://owner.test.evil.test/' }).end(),
      /another owner/,
    ],
    [
      'when it leads to an owner of a similar name',
      (_q, s) => s.writeHead(301, { location: 'https://evilowner.test/' }).end(),
      /another owner/,
    ],
    [
      'when it leads to an address',
      (_q, s) => s.writeHead(301, { location: 'https://127.0.0.1/' }).end(),
      /another owner/,
    ],
    [
      'when it leads nowhere',
      (_q, s) => s.writeHead(301, { location: 'https://[' }).end(),
      /no URL/,
    ],
    [
      'when it leads in a circle',
      (_q, s) => s.writeHead(301, { location: '/list.json' }).end(),
      /more than 5 redirects/,
    ],
  ];

  test.each(REFUSED)('%s', async (_when, answer, detail) => {
    const folder = await makeFolder();
    await writeFile(join(folder, 'owner-list.json'), LIST);
    const server = await startListServer('lists.owner.test', answer);
    const report = await refresh({ folder, server });
    expect(report.outcome).toBe('failed');
    expect(report.detail).toMatch(detail);
    expect(await readdir(folder)).toEqual(['owner-list.json']);
    expect(await readFile(join(folder, 'owner-list.json'), 'utf8')).toBe(LIST);
  });

  test('when the certificate is somebody else’s', async () => {
    const folder = await makeFolder();
    const server = await startListServer('lists.owner.test', (_request, response) =>
      response.end(OTHER),
    );
    const stranger = await startListServer('lists.owner.test', () => undefined);
    const report = await refresh({ folder, server: { ...server, cert: stranger.cert } });
    expect(report).toMatchObject({ outcome: 'failed' });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a running gateway', () => {
  const SOURCES = ['a', 'b'].map((name) => ({ name, url: '', format: 'prefixes' as const }));

  test('takes the first folder that has a list, and reads again when told', async () => {
    const [own, shipped] = [await makeFolder(), await makeFolder()];
    await writeFile(join(shipped, 'a.json'), LIST);
    const lists = await openRangeLists({
      folders: [join(own, 'missing'), own, shipped],
      sources: SOURCES,
      onProblem: (file, reason) => expect.unreachable(`${file}: ${reason}`),
    });
    onTestFinished(lists.close);
    const ip = parseIpAddress('198.51.100.7');
    expect([lists.find('a')?.prefixes.size, lists.find('b')]).toEqual([1, null]);
    await writeFile(join(own, 'a.json'), OTHER);
    await lists.reload();
    expect(ip && lists.find('a')?.prefixes.has(ip)).toBe(true);
  });

  test('tells of a file it cannot use, and keeps what it has', async () => {
    const folder = await makeFolder();
    const problems: string[] = [];
    await writeFile(join(folder, 'a.json'), LIST);
    const lists = await openRangeLists({
      folders: [folder],
      sources: SOURCES,
      onProblem: (_file, reason) => problems.push(reason),
    });
    onTestFinished(lists.close);
    await writeFile(join(folder, 'a.json'), 'half a li');
    await lists.reload();
    expect(problems).toEqual(['not a JSON object']);
    expect(lists.find('a')?.prefixes.size).toBe(1);
  });
});

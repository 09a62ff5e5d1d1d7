// Purges over two processes on one store: one in this process, one started in earnest, and the
// command as a third. Pages carry their version: what is asked for after a purge has answered is
// never older than what the origin had before it.
import { expect, onTestFinished, test } from 'vitest';
import { finishCommand, startCommand } from '../cli/run-command.ts';
import { postPurge } from '../helpers/post-purge.ts';
import { startRawOrigin } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { expectChanged, PASSED_ON, startChanging } from './changed-elsewhere.ts';
import { ask, page, type Reply } from './stage.ts';
import { type ServingProcess, startTwoProcesses } from './two-processes.ts';

interface Processes {
  readonly all: readonly [ServingProcess, ServingProcess];
  /** A configuration file of the store, for commands. */
  readonly file: string;
}

type Order = Readonly<Record<string, unknown>>;

/** @param host keys of the one host */
async function startProcesses(originUrl: string, host = ''): Promise<Processes> {
  const options = { host, gatewayHere: 'log: {level: warn}\n' };
  const { here, there, file } = await startTwoProcesses(originUrl, options);
  return { all: [here, there], file };
}

async function purge({ adminPort }: ServingProcess, body: Order): Promise<Order> {
  const { status, answer } = await postPurge(adminPort, body);
  expect([status, answer]).toEqual([200, answer]);
  return answer;
}

const PAGE_URL = 'https://site.test/page';

const brief = (reply: Reply): string => `${reply.header('X-Render-Cache')} ${reply.body}`;

test('a purge by another process wins over a fetch that began before it', async () => {
  let version = 1;
  const held: ((text: string) => void)[] = [];
  let isHolding = false;
  const origin = await startRawOrigin({
    answer: (_request, socket) => {
      if (!isHolding) return page(`v${version}`);
      held.push((text) => socket.write(page(text)));
      return null;
    },
  });
  onTestFinished(origin.close);
  const { all, file } = await startProcesses(origin.url);
  const [one, other] = all;
  const command = async (...argv: string[]): Promise<void> => {
    const done = await finishCommand(startCommand(['purge', ...argv, '-c', file]));
    expect({ ...done, stdout: '' }).toEqual({ status: 0, stdout: '', stderr: '' });
  };
  const purges = [
    () => purge(other, { url: 'https://site.test/page' }),
    () => purge(other, { pattern: '/p*', host: 1 }),
    () => command('--host', 'site.test'),
  ];
  for (const purgeNow of purges) {
    isHolding = true;
    await purge(one, { all: true });
    const waiting = ask(one.port, '/page');
    await waitUntil('the fetch is under way', () => held.length === 1);
    await purgeNow();
    version += 1;
    isHolding = false;
    expect(brief(await ask(one.port, '/page'))).toBe(`new v${version}`);
    held.shift()?.('old');
    expect((await waiting).body).toBe('old');
    for (const { port } of all) expect(brief(await ask(port, '/page'))).toBe(`hit v${version}`);
  }
}, 120_000);

test('what a POST by another process changes wins too', async () => {
  const origin = await startChanging();
  const { all } = await startProcesses(origin.url, PASSED_ON);
  await expectChanged(all, origin);
}, 120_000);

test('a soft purge by another process: stale, then renewed once', async () => {
  let version = 1;
  const origin = await startRawOrigin({ answer: () => page(`v${version}`) });
  onTestFinished(origin.close);
  const { all } = await startProcesses(origin.url);
  const [one, other] = all;
  await ask(one.port, '/page');
  expect(brief(await ask(one.port, '/page'))).toBe('hit v1');
  version += 1;
  const { id } = await purge(other, { url: 'https://site.test/page', soft: true, dry_run: false });
  expect(brief(await ask(one.port, '/page'))).toBe('stale v1');
  await waitUntil('it is renewed', async () => brief(await ask(one.port, '/page')) === 'hit v2');
  expect(brief(await ask(other.port, '/page'))).toBe('hit v2');
  expect(origin.requests).toHaveLength(2);
  expect(await purge(other, { undo: id })).toMatchObject({ entries: 0, newer: 1, undoes: id });
}, 120_000);

test('purges one after another of a page that both store again: it never loses its bodies', async () => {
  const PURGES = 80;
  const COMMANDS = 4;
  const origin = await startRawOrigin({ answer: () => page('<p>words</p>'.repeat(400)) });
  onTestFinished(origin.close);
  const { all, file } = await startProcesses(origin.url);
  const hits = [0, 0];
  let isOver = false;
  const client = async ({ port }: ServingProcess, own: number): Promise<void> => {
    while (!isOver) {
      const reply = await ask(port, '/page');
      if (reply.header('X-Render-Cache') === 'hit') hits[own] = (hits[own] ?? 0) + 1;
    }
  };
  const clients = all.map(client);
  const counts: number[] = [];
  for (let round = 0; round < PURGES; round += 1) {
    // Nobody fetches any more: what a purge means is there, or is stored anew behind it.
    const before = [...hits];
    await waitUntil('both have it', () => hits.every((count, own) => count > (before[own] ?? 0)));
    const { entries, newer } = await purge(all[round % 2] ?? all[0], { url: PAGE_URL });
    counts.push(Number(entries) + Number(newer));
  }
  for (let round = 0; round < COMMANDS; round += 1) {
    const done = await finishCommand(startCommand(['purge', PAGE_URL, '-c', file]));
    expect(done).toMatchObject({ status: 0, stderr: '' });
  }
  isOver = true;
  await Promise.all(clients);
  expect(counts.filter((count) => count < 1)).toEqual([]);
  const alarms = all.flatMap(({ log }) => log.filter(({ kind }) => kind === 'body_damaged'));
  expect(alarms).toEqual([]);
}, 120_000);

test('300 purges among hits and fills: nobody gets what is older', async () => {
  const PAGES = 24;
  const PURGES = 300;
  const pathOf = (index: number): string => `/${index % 2 === 0 ? 'even' : 'odd'}/${index}`;
  const tagOf = (index: number): string => `third-${index % 3}`;
  /** What the origin has now, and what everybody has to have. */
  const current = Array.from({ length: PAGES }, () => 0);
  const due = [...current];
  const origin = await startRawOrigin({
    answer: ({ target }) => {
      const index = Number(target.split('/').at(-1));
      return page(`<b>${current[index]}</b>`, `Surrogate-Key: ${tagOf(index)} any`);
    },
  });
  onTestFinished(origin.close);
  const { all } = await startProcesses(origin.url);
  const older: string[] = [];
  const counts = { asked: 0, hits: 0 };
  let isOver = false;

  const client = async (first: number): Promise<void> => {
    for (let turn = first; !isOver; turn += 5) {
      const index = turn % PAGES;
      const process = all[turn % 2] ?? all[0];
      const least = due[index] ?? 0;
      const reply = await ask(process.port, pathOf(index));
      const version = Number(/<b>(\d+)<\/b>/.exec(reply.body)?.[1] ?? -1);
      counts.asked += 1;
      if (reply.header('X-Render-Cache') === 'hit') counts.hits += 1;
      if (version < least) older.push(`${pathOf(index)}: ${reply.status} ${version} < ${least}`);
    }
  };
  const orders: readonly ((index: number) => [order: Order, isMeant: (at: number) => boolean])[] = [
    (index) => [{ url: `https://site.test${pathOf(index)}` }, (at) => at === index],
    (index) => [{ tag: tagOf(index) }, (at) => tagOf(at) === tagOf(index)],
    (index) => [{ pattern: pathOf(index), host: 1 }, (at) => at === index],
    () => [{ pattern: '/EVEN/*' }, (at) => at % 2 === 0],
    () => [{ host: 'site.test' }, () => true],
  ];

  const clients = Array.from({ length: 6 }, (_, first) => client(first));
  for (let round = 0; round < PURGES; round += 1) {
    const kind = round % 10 < 6 ? 0 : (round % 10) - 5;
    const [order, isMeant] = orders[kind]?.((round * 7) % PAGES) ?? expect.unreachable();
    for (let at = 0; at < PAGES; at += 1) if (isMeant(at)) current[at] = (current[at] ?? 0) + 1;
    const next = [...current];
    await purge(all[round % 2] ?? all[0], order);
    for (let at = 0; at < PAGES; at += 1) due[at] = next[at] ?? 0;
  }
  isOver = true;
  await Promise.all(clients);
  expect(older).toEqual([]);
  expect(counts.hits).toBeGreaterThan(0);
  expect(counts.asked).toBeGreaterThan(counts.hits);
}, 120_000);

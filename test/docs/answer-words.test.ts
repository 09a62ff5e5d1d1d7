// The README's table of what an answer says of itself: each row is asked for, and header, log line and
// metrics are held against it.
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { BOT, HUMAN, page, type Reply, type Stage, setStage } from '../scenario/stage.ts';
import { readFile } from '../tidy/files.ts';

const HOUR_MS = 3_600_000;

/** null: a dash in the table. */
type Cells = readonly (string | null)[];

interface Scene {
  readonly host?: string;
  readonly hasPages?: boolean;
  /** Answers the reply that is described; null: there is none. */
  readonly play: (site: Stage) => Promise<Reply | null>;
}

const KEPT = 'bypass: {cache: {enabled: true}}\n';
const asPerson = (site: Stage): Promise<Reply> => site.ask('/page', { userAgent: HUMAN });

async function askTwice(site: Stage, waitMs: number, userAgent = BOT): Promise<Reply> {
  await site.ask('/page', { userAgent });
  site.clock.advance(waitMs);
  return await site.ask('/page', { userAgent });
}

async function leave(site: Stage): Promise<null> {
  site.renderer.script('*', { kind: 'hang' });
  const client = connect(site.gateway.port, '127.0.0.1');
  client.write(`GET /page HTTP/1.1\r\nHost: site.test\r\nUser-Agent: ${BOT}\r\n\r\n`);
  await waitUntil('the page is asked for', () => site.renderer.requests.length === 1);
  client.destroy();
  return null;
}

const SCENES: Readonly<Record<string, Scene>> = {
  'a page that was just made': { play: (site) => site.ask('/page') },
  'a stored page': { play: (site) => askTwice(site, 1_000) },
  'a stored page that is stale': { play: (site) => askTwice(site, 2 * HOUR_MS) },
  'what is passed on as planned': { play: asPerson },
  'the site’s answer, as the page could not be had': {
    hasPages: false,
    play: (site) => site.ask('/page'),
  },
  'what is passed on and kept': { host: KEPT, play: asPerson },
  'what was kept': { host: KEPT, play: (site) => askTwice(site, 1_000, HUMAN) },
  'what was kept and is stale': { host: KEPT, play: (site) => askTwice(site, 2 * HOUR_MS, HUMAN) },
  'a rule’s answer, a redirect, a refused URL': {
    host: 'url_rules: [{match: /page, action: block}]\n',
    play: (site) => site.ask('/page'),
  },
  'a 503 or 504 in place of the page': {
    host: 'on_render_error: "503"\n',
    hasPages: false,
    play: (site) => site.ask('/page'),
  },
  'nothing: it left before its page was there': { play: leave },
};

function readTable(): ReadonlyMap<string, Cells> {
  const [, section = ''] = readFile('README.md').split('### What an answer says of itself\n');
  const [table = ''] = /^\|[^]*?\n(?=\n)/m.exec(section) ?? [];
  const rows = table.split('\n').slice(2, -1);
  return new Map(
    rows.map((row) => {
      const [what = '', ...cells] = row.slice(1, -1).split('|');
      const words = cells.map((cell) => /`(.+)`/.exec(cell)?.[1] ?? null);
      return [what.trim().replaceAll("'", '’'), words];
    }),
  );
}

const table = readTable();

test('each row has its scene', () => {
  expect([...table.keys()]).toEqual(Object.keys(SCENES));
});

describe('the client gets', () => {
  test.each(Object.entries(SCENES))('%s', async (what, { host = '', hasPages = true, play }) => {
    const [, , cacheStatus, source, cache] = table.get(what) ?? [];
    const site = await setStage({
      engine: 'service',
      hasTestClock: true,
      host,
      // Fresh for less than the clock is moved on, and good for as long again.
      origin: () => page('a page', 'Cache-Control: max-age=3600, stale-while-revalidate=86400'),
    });
    if (!hasPages) site.renderer.script('*', { kind: 'failed', code: 'crashed' });
    const reply = await play(site);
    const header = (name: string): string | null => reply?.header(name) ?? null;
    const words = header('Cache-Status')?.split('; ') ?? [];
    await waitUntil('it is told', () => lastLine(site)['cache'] === cache);
    const line = lastLine(site);
    expect([
      header('X-Render-Source'),
      header('X-Render-Cache'),
      words.find((word) => word === cacheStatus) ?? words[1] ?? null,
      line['source'],
      line['cache'],
    ]).toEqual(table.get(what));
    const labels = `source="${source}",cache="${cache}"`;
    await waitUntil('it is counted', async () => {
      const counters = (await readMetrics(site)).filter((row) =>
        /^edge_\w+_requests_total/.test(row),
      );
      return counters.some((row) => row.includes(labels));
    });
    // A page that nobody waits for any more would be waited for at the end.
    if (reply === null) await site.renderer.close();
  });
});

function lastLine({ gateway }: Stage): Readonly<Record<string, unknown>> {
  return gateway.log.findLast(({ msg }) => msg === 'request') ?? {};
}

async function readMetrics({ gateway }: Stage): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`);
  return (await response.text()).split('\n');
}

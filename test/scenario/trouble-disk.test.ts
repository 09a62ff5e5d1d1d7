// The trouble table, disk: the page is delivered whatever the disk does; what is damaged is dropped
// and built again; trouble is logged once and counted.
import { mkdir, mkdtemp, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { ask, hostsText, page, type Stage, setStage, startOrigin } from './stage.ts';

const HTML = `<!doctype html>${'<p>words</p>'.repeat(400)}`;

const pagesFolder = ({ gateway }: Stage): string => join(gateway.folder, 'data', 'pages');

/** The file of the one page, when its codings are there too: with them it is written once more. */
async function bodyFile(stage: Stage): Promise<string> {
  const folder = pagesFolder(stage);
  let names: readonly string[] = [];
  await waitUntil('the page has codings', async () => {
    names = await readdir(folder, { recursive: true });
    return names.some((path) => path.endsWith('.html.br'));
  });
  return join(folder, names.find((path) => path.endsWith('.html')) ?? 'there is none');
}

describe('a damaged body is never served, and is built again', () => {
  const damages: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ['one byte changed', (path) => writeFile(path, HTML.replace('words', 'wordz'))],
    ['cut short', (path) => truncate(path, 1_000)],
    ['empty', (path) => truncate(path, 0)],
    ['longer', (path) => writeFile(path, `${HTML}!`)],
    ['gone', (path) => rm(path)],
    [
      'a folder now',
      async (path) => {
        await rm(path);
        await mkdir(path);
      },
    ],
  ];
  test.each(damages)('%s', async (_what, damage) => {
    const stage = await setStage({ origin: () => page(HTML) });
    await stage.ask('/page');
    await damage(await bodyFile(stage));
    const reply = await stage.ask('/page');
    expect([reply.status, reply.body]).toEqual([200, HTML]);
    expect(reply.header('Cache-Status')).toMatch(/stored;.*detail=damaged/);
    expect((await stage.ask('/page')).header('X-Render-Cache')).toBe('hit');
    expect(stage.origin.requests.length).toBe(2);
    const events = stage.gateway.log.filter(({ kind }) => kind === 'body_damaged');
    expect(events.length).toBe(1);
    const metrics = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}/metrics`);
    expect(await metrics.text()).toMatch(/store_errors_total\{.*"bodies".*"damaged".*\} 1\n/);
  });
});

test('a folder that cannot be written to: pages are delivered, and it is said once', async () => {
  const stage = await setStage({ hasTestClock: true, origin: () => page(HTML) });
  // A file in its place stops also those whom permissions do not stop.
  await rename(pagesFolder(stage), `${pagesFolder(stage)}.aside`);
  await writeFile(pagesFolder(stage), '');
  for (const target of ['/a', '/b', '/a']) {
    const reply = await stage.ask(target);
    expect([reply.status, reply.body]).toEqual([200, HTML]);
    expect(reply.header('Cache-Status')).toContain('detail=store_unavailable');
  }
  await rm(pagesFolder(stage));
  await rename(`${pagesFolder(stage)}.aside`, pagesFolder(stage));
  stage.clock.advance(60_000);
  await stage.ask('/a');
  expect((await stage.ask('/a')).header('X-Render-Cache')).toBe('hit');
  const words = stage.gateway.log.filter(({ msg }) => msg === 'store').map(({ kind }) => kind);
  expect(words).toEqual(['bodies_failing', 'bodies_recovered']);
});

test('a disk without room for a page: it is delivered, and smaller ones are still stored', async () => {
  const origin = await startOrigin(({ target }) =>
    page(target === '/large' ? HTML.repeat(300) : HTML),
  );
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-full-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'hosts.yaml'), hostsText(origin.url));
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(
    file,
    [
      'server: {listen: "127.0.0.1:0"}',
      'admin: {listen: "127.0.0.1:0"}',
      'storage: {base_path: ./data}',
      'render: {engine: origin}',
      '',
    ].join('\n'),
  );
  // Units of 1,024 bytes: no file may be larger than 1 MiB.
  const gateway = await startGatewayProcess(file, ['-f', '1024']);
  onTestFinished(gateway.kill);
  await ask(gateway.port, '/small');
  for (let round = 1; round <= 2; round += 1) {
    const reply = await ask(gateway.port, '/large');
    expect([reply.status, reply.body.length]).toEqual([200, HTML.length * 300]);
    expect(reply.header('Cache-Status')).toContain('detail=store_unavailable');
  }
  expect((await ask(gateway.port, '/small')).header('X-Render-Cache')).toBe('hit');
  expect(await gateway.stop()).toBe(0);
});

// Hot pages in memory and bodies kept once, as a client and an operator see them.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { page, type Stage, setStage, waitForCodings } from './stage.ts';

const HTML = `<!doctype html>${'<p>words</p>'.repeat(400)}`;

test('a hot page is served from memory, whatever becomes of its files', async () => {
  const site = await setStage({ origin: () => page(HTML) });
  await site.ask('/');
  await waitForCodings(site, '/');
  expect((await site.ask('/')).header('X-Render-Cache')).toBe('hit');
  rmSync(join(site.gateway.folder, 'data', 'pages', '1'), { recursive: true });
  for (const headers of [[], ['Accept-Encoding: br']]) {
    const reply = await site.ask('/', { headers });
    expect(reply.header('X-Render-Cache')).toBe('hit');
  }
  expect(site.origin.requests.length).toBe(1);
  expect(await read(site, 'memory_hits_total')).toBeGreaterThan(0);
  expect(await read(site, 'memory_pages')).toBe(1);
  expect(await read(site, 'memory_bytes')).toBeGreaterThan(HTML.length);
});

test('memory.max_bytes: 0 holds nothing', async () => {
  const site = await setStage({ gateway: 'memory: {max_bytes: 0}\n', origin: () => page(HTML) });
  for (let i = 0; i < 3; i += 1) await site.ask('/');
  expect(site.origin.requests.length).toBe(1);
  expect(await read(site, 'memory_hits_total')).toBe(0);
  expect(await read(site, 'memory_pages')).toBe(0);
});

test('pages with the same body share it, and count it', async () => {
  const site = await setStage({ origin: () => page(HTML) });
  for (let i = 0; i < 5; i += 1) {
    await site.ask(`/same?v=${i}`);
    await waitForCodings(site, `/same?v=${i}`);
  }
  expect(await read(site, 'bodies_shared_total')).toBe(4);
  const bodies = join(site.gateway.folder, 'data', 'pages', '1', '.bodies');
  const files = readdirSync(bodies).flatMap((hex) => readdirSync(join(bodies, hex)));
  expect(files).toHaveLength(3);
});

test('a stop waits for the codings of what was just stored', async () => {
  const site = await setStage({ origin: () => page(HTML) });
  await site.ask('/');
  await site.gateway.stop();
  const files = readdirSync(join(site.gateway.folder, 'data', 'pages', '1'), { recursive: true });
  expect(files.map(String).filter((name) => name.endsWith('.html.br'))).toHaveLength(1);
});

async function read({ gateway }: Stage, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`);
  const line = new RegExp(`^edge_gateway_${name} (\\d+)$`, 'm').exec(await answer.text());
  return Number(line?.[1]);
}

// Many pages one after the other: no wrong one, nothing left behind, and memory that stays where it
// was, whether browsers are killed all the time or one of them does all the work.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listGroup } from '../../src/renderer/browser/process-group.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import { currentPid, growthOf, type Weight, weigh, withRenderer } from './browser-life.ts';
import { describeWithChromium, type Rendered, ZOO_HOST } from './test-renderer.ts';

interface Soak {
  readonly rounds: number;
  /** Of one round. */
  readonly renders: number;
  /** A short run is still warming up at its beginning. */
  readonly growthMax: number;
}

/** `RENDER_SOAK=1` makes it the long run: 1,000 renders, killed every 50. */
const isLong = process.env['RENDER_SOAK'] === '1';
const KILLED: Soak = isLong
  ? { rounds: 20, renders: 50, growthMax: 1.3 }
  : { rounds: 6, renders: 10, growthMax: 2 };
const STEADY: Soak = isLong
  ? { rounds: 6, renders: 50, growthMax: 1.3 }
  : { rounds: 3, renders: 10, growthMax: 2 };
const SERVICE_MIB_MAX = 512;
const PAGE = `https://${ZOO_HOST}/app/virtual-dom`;
const PATIENT = {
  wait_for: 'DOMContentLoaded',
  selector: '.items',
  timeout_ms: 120_000,
  soft_timeout_ms: 100_000,
} as const;

const timeFor = ({ rounds, renders }: Soak): { readonly timeout: number } => ({
  timeout: rounds * renders * 2_000,
});

describeWithChromium('soak', () => {
  let zoo: Zoo;

  beforeAll(async () => {
    zoo = await openZoo();
  });
  afterAll(async () => {
    await zoo.close();
  });

  test(`killed every ${KILLED.renders} renders`, timeFor(KILLED), async () => {
    const pids = new Set<number>();
    const weights: Weight[] = [];
    await withRenderer(zoo.url, { pool: { queueMax: KILLED.renders } }, async (renderer) => {
      const { render, service } = renderer;
      for (let round = 0; round < KILLED.rounds; round += 1) {
        const pid = await currentPid(service.browserPid);
        pids.add(pid);
        const pages = Array.from({ length: KILLED.renders }, () => render(PAGE, PATIENT));
        await pages[round % KILLED.renders];
        process.kill(pid, 'SIGKILL');
        expectWhole(await Promise.all(pages));
        weights.push(await weigh(service.browserPid));
      }
    });
    expect(pids.size).toBe(KILLED.rounds);
    for (const pid of pids) expect(listGroup(pid)).toEqual([]);
    expectFlat(weights, KILLED);
  });

  test(`one browser, ${STEADY.rounds * STEADY.renders} renders`, timeFor(STEADY), async () => {
    const weights: Weight[] = [];
    const pool = { queueMax: STEADY.renders, rendersPerBrowser: 10_000 };
    await withRenderer(zoo.url, { pool }, async ({ render, service }) => {
      const pid = await currentPid(service.browserPid);
      for (let round = 0; round < STEADY.rounds; round += 1) {
        const pages = Array.from({ length: STEADY.renders }, () => render(PAGE, PATIENT));
        expectWhole(await Promise.all(pages));
        weights.push(await weigh(service.browserPid));
      }
      expect(await currentPid(service.browserPid)).toBe(pid);
    });
    expectFlat(weights, STEADY);
  });
});

function expectWhole(pages: readonly Rendered[]): void {
  for (const { head, html } of pages) {
    expect(head).toMatchObject({ outcome: 'complete', status: 200, error: null });
    expect(html).toContain('<li>lion</li><li>tiger</li><li>bear</li>');
  }
}

function expectFlat(weights: readonly Weight[], { renders, growthMax }: Soak): void {
  const columns = (['browserOwn', 'browserPss', 'browserRss', 'service'] as const).map((column) => {
    const values = weights.map((weight) => weight[column]);
    return { column, values, growth: growthOf(values) };
  });
  const lines = columns.map(
    ({ column, values, growth }) => `${column} ${values.join(' ')}: × ${growth.toFixed(2)}`,
  );
  console.info(`MiB every ${renders} renders\n${lines.join('\n')}`);
  // The other two also tell how many other browsers and processes there are just then.
  const grown = columns.filter(
    ({ column, growth }) => /^(?:browserOwn|service)$/.test(column) && growth > growthMax,
  );
  expect(grown).toEqual([]);
  expect(Math.max(...weights.map(({ service }) => service))).toBeLessThan(SERVICE_MIB_MAX);
}

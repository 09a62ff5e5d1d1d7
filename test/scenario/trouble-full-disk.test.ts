// The trouble table, a disk that is full to the last byte, under load: every page is right, the
// trouble is logged once, and when there is room again pages are stored again, by the same process.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mapParallel } from '../helpers/map-parallel.ts';
import { canMountDisks, limitFiles, mountSmallDisk, type Room } from '../helpers/small-disk.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { ask, hostsText, page, startOrigin } from './stage.ts';

const TIMEOUT_MS = 90_000;
const CLIENTS = 8;
const DISK_KIB = 4_096;

/** No two pages have the same body. */
const htmlOf = (target: string): string =>
  `<!doctype html><title>${target}</title>${'<p>words</p>'.repeat(700)}`;
const targetsOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `/${name}/${i}`);

/** false: then a process whose files may not grow stands in, and the test's name says so. */
const CAN_MOUNT = canMountDisks();

interface FullDisk extends Room {
  readonly gateway: GatewayProcess;
}

/** Asks for all of them, by several clients at once; says how many came from the store. */
async function load({ gateway }: FullDisk, targets: readonly string[]): Promise<Counts> {
  const counts: Counts = { hit: 0, new: 0 };
  await mapParallel(CLIENTS, targets, async (target) => {
    const reply = await ask(gateway.port, target);
    expect([reply.status, reply.body]).toEqual([200, htmlOf(target)]);
    const cache = reply.header('X-Render-Cache') === 'hit' ? 'hit' : 'new';
    counts[cache] += 1;
  });
  return counts;
}

interface Counts {
  hit: number;
  new: number;
}

const storeWords = ({ log }: GatewayProcess): readonly unknown[] =>
  log.filter(({ msg }) => msg === 'store').map(({ kind }) => kind);
const complaints = ({ log }: GatewayProcess): readonly unknown[] =>
  log.filter(({ level }) => level === 'error' || level === 'fatal');

/** Trouble and its end take turns: neither is told twice. */
function expectToldOnce(gateway: GatewayProcess, part: string): void {
  const told = storeWords(gateway).filter((word) => String(word).startsWith(part));
  const turns = told.map((_, i) => `${part}_${i % 2 === 0 ? 'failing' : 'recovered'}`);
  expect(told).toEqual(turns);
  // What needs no more room may go well now and then.
  expect(told.length).toBeLessThanOrEqual(6);
}

/** A gateway whose store, or a part of it, is on a disk that can be filled. */
async function startOn(part: string): Promise<FullDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-disk-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const place = join(folder, 'data', part);
  await mkdir(place, { recursive: true });
  const disk = CAN_MOUNT ? mountSmallDisk(place, DISK_KIB) : null;
  if (disk !== null) onTestFinished(disk.unmount);
  const origin = await startOrigin(({ target }) => page(htmlOf(target)));
  await writeFile(join(folder, 'hosts.yaml'), hostsText(origin.url));
  const file = join(folder, 'edge-gateway.yaml');
  const lines = [
    'server: {listen: "127.0.0.1:0", workers: 1}',
    'admin: {listen: "127.0.0.1:0"}',
    'storage: {base_path: ./data}',
    'memory: {max_bytes: 0}',
    'render: {engine: origin}',
    '',
  ];
  await writeFile(file, lines.join('\n'));
  const gateway = await startGatewayProcess(file, ['-S', '-f', 'unlimited']);
  onTestFinished(gateway.kill);
  return { gateway, ...(disk ?? limitFiles(gateway.child.pid ?? 0)) };
}

type Row = readonly [what: string, part: string, failing: string];

const ON_A_DISK: readonly Row[] = [
  ['all that is stored', '.', 'bodies'],
  ['bodies alone', 'pages', 'bodies'],
  ['metadata alone', 'store', 'store'],
];
// A limit holds for all files of a process.
const BY_LIMIT: readonly Row[] = [
  ['NO DISK MAY BE MOUNTED HERE: files that may not grow stand in for it', '.', 'bodies'],
];

describe('a disk that is full', () => {
  test.each(CAN_MOUNT ? ON_A_DISK : BY_LIMIT)(
    '%s',
    { timeout: TIMEOUT_MS },
    async (_what, part, failing) => {
      const disk = await startOn(part);
      const { gateway } = disk;
      const stored = targetsOf('stored', 20);
      await load(disk, stored);
      expect(await load(disk, stored)).toEqual({ hit: 20, new: 0 });

      disk.fill();
      let round = 0;
      await waitUntil('it is found to be full', async () => {
        round += 1;
        await load(disk, targetsOf(`round-${round}`, 40));
        return storeWords(gateway).includes(`${failing}_failing`);
      });
      await load(disk, [...stored, ...targetsOf('more', 100)]);
      expect(await load(disk, stored)).toEqual({ hit: 20, new: 0 });

      disk.free();
      await waitUntil('pages are stored again', async () => {
        await load(disk, ['/again']);
        return (await load(disk, ['/again'])).hit === 1;
      });
      expectToldOnce(gateway, 'bodies');
      expectToldOnce(gateway, 'store');
      expect(storeWords(gateway)).toContain(`${failing}_recovered`);
      expect(complaints(gateway)).toEqual([]);
      expect(await gateway.stop()).toBe(0);
    },
  );
});

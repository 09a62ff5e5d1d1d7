// What `verify` finds wrong with a store, and what is left after it has repaired it.
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Problem, verifyStore } from '../../src/pipeline/upkeep/verify-store.ts';
import { deleteEntry, HOUR_MS } from '../contract/stored-entries.ts';
import type { TestClock } from '../contract/test-clock.ts';
import {
  lookAt,
  makePage,
  NO_PACE,
  noPurgesTo,
  type StoredPage,
  type StoredStore,
  storeBody,
  storePage,
  useStore,
  valueOf,
} from './stored-store.ts';

const LOG_END = 5;

let clock: TestClock;
let store: StoredStore;
useStore((opened, itsClock) => {
  store = opened;
  clock = itsClock;
});

const verify = async (options: { repairs?: boolean; checksBodies?: boolean } = {}) => {
  const problems: Problem[] = [];
  const report = valueOf(
    await verifyStore(
      { ...store.deps, readPurges: async () => noPurgesTo(LOG_END) },
      {
        checksBodies: true,
        repairs: false,
        ...options,
        pace: NO_PACE,
        onProblem: (problem) => problems.push(problem),
      },
    ),
  );
  return { ...report, problems };
};
const fileOf = ({ ref: { hostId, hash } }: StoredPage): string =>
  join(store.basePath, 'pages', String(hostId), hash.slice(0, 2), `${hash}_1.html`);
const plant = async ({ key }: StoredPage, text: string): Promise<void> => {
  await store.embedded.environment.put(key, text, 7);
};

test('whole pages are no problem, and are counted', async () => {
  for (const hostId of [1, 2, 2]) {
    await storePage(store, makePage(store, hostId + Math.random(), { hostId, since: LOG_END }));
  }
  const { hosts, problems } = await verify();
  expect(problems).toEqual([]);
  expect(hosts).toMatchObject([
    { hostId: 1, entries: 1 },
    { hostId: 2, entries: 2 },
  ]);
  expect(hosts[0]?.bytes).toBeGreaterThan(1_000);
});

test('what has expired, and what another version wrote, is told and is no problem', async () => {
  await plant(await storePage(store, makePage(store, 1)), '{"schema":2}');
  await storePage(store, makePage(store, 2));
  clock.advance(3 * HOUR_MS);
  expect(await verify()).toMatchObject({ expired: 1, foreign: 1, problems: [], hosts: [] });
});

type Row = readonly [name: string, expected: object, damage: (page: StoredPage) => unknown];

describe('problems', () => {
  test.each<Row>([
    [
      'an entry that is no entry',
      { kind: 'damaged', detail: 'not_json' },
      (page) => plant(page, 'x'),
    ],
    [
      'an entry under another key',
      { kind: 'damaged', detail: 'other_key' },
      (page) => plant(page, JSON.stringify({ ...page.entry, hash: '0'.repeat(16) })),
    ],
    [
      'tags that can’t be',
      { kind: 'damaged', detail: 'bad_tags' },
      (page) => plant(page, JSON.stringify({ ...page.entry, tags: ['a b'] })),
    ],
    [
      'a fetch that began behind the end of the log',
      { kind: 'other_life' },
      (page) => plant(page, JSON.stringify({ ...page.entry, since: LOG_END + 1 })),
    ],
    ['a body that is gone', { kind: 'body_missing' }, (page) => rmSync(fileOf(page))],
    [
      'a body that is longer',
      { kind: 'body_damaged', detail: 'identity: wrong_length' },
      (page) => appendFileSync(fileOf(page), '.'),
    ],
    [
      'a body of other bytes',
      { kind: 'body_damaged', detail: 'identity: wrong_hash' },
      (page) => writeFileSync(fileOf(page), 'x'.repeat(1_000)),
    ],
    [
      'a coding that is gone',
      { kind: 'body_damaged', detail: 'br: missing' },
      ({ key, entry }) => {
        const br = { bytes: 5, hash: '0'.repeat(16) };
        return store.deps.entries.put(key, { ...entry, bodies: { ...entry.bodies, br } });
      },
    ],
    [
      'a body without an entry',
      { kind: 'orphan' },
      ({ key }) => deleteEntry(store.deps.entries, key),
    ],
  ])('%s: found, repaired, and then gone', async (_name, expected, damage) => {
    const page = await storePage(store, makePage(store, 1));
    const other = await storePage(store, makePage(store, 2));
    await damage(page);
    clock.advance(HOUR_MS);
    const found = { key: page.key, isRepaired: false, ...expected };
    expect((await verify()).problems).toMatchObject([found]);
    const repaired = { key: page.key, isRepaired: true, ...expected };
    expect((await verify({ repairs: true })).problems).toMatchObject([repaired]);
    expect((await verify()).problems).toEqual([]);
    expect(await lookAt(store, page)).toBe('nothing');
    expect(await lookAt(store, other)).toBe('whole');
  });
});

test('quick: bodies are looked for, and not read', async () => {
  const [spoilt, gone] = [makePage(store, 1), makePage(store, 2)];
  await storePage(store, spoilt);
  await storePage(store, gone);
  appendFileSync(fileOf(spoilt), '.');
  rmSync(fileOf(gone));
  const { problems } = await verify({ checksBodies: false });
  expect(problems).toMatchObject([{ kind: 'body_missing', key: gone.key }]);
});

test('a body that was just written is no orphan', async () => {
  await storeBody(store, makePage(store, 1));
  expect((await verify()).problems).toEqual([]);
});

test('a page that is replaced while it is looked at is no problem', async () => {
  const page = await storePage(store, makePage(store, 1));
  const body = Buffer.from('the next version');
  const digest = { bytes: body.length, hash: store.hasher.bytes(body) };
  await storeBody(store, { ...page, body });
  const verified = verify();
  const entry = { ...page.entry, bodies: { identity: digest } };
  const following = store.deps.entries.put(page.key, entry);
  const { problems } = await verified;
  await following;
  expect(problems).toEqual([]);
  expect(await lookAt(store, { ...page, entry })).toBe('whole');
});

test('a store that can’t be read to the end is not called whole', async () => {
  await storePage(store, makePage(store, 1));
  const { inventory } = store.deps;
  const read = async () => ({ state: 'unavailable', reason: 'frozen' }) as const;
  const options = { checksBodies: true, repairs: true, pace: NO_PACE, onProblem: () => undefined };
  expect(await verifyStore({ ...store.deps, inventory: { ...inventory, read } }, options)).toEqual({
    state: 'unavailable',
    reason: 'frozen',
  });
});

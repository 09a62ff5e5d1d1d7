// What every purge log must do; each adapter runs all of it. Two clients of one log stand for two
// processes, or two machines.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PurgeOrder, PurgeRecord } from '../../src/core/purge/purge-record.ts';
import type { PurgeLog, PurgeNews } from '../../src/pipeline/ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

/** An empty log, and two clients of it. */
export interface PurgeLogSubject {
  readonly clients: readonly [PurgeLog, PurgeLog];
  /** Puts any text at a place behind the end, as a later version would have written it. */
  readonly plant: (seq: number, text: string) => Promise<void>;
  /** Takes away what the log consists of, as a store that is replaced by an empty one. */
  readonly lose: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const KEY = 'cache:1:2:0123456789abcdef';

/** A purge of one page. */
export const order = (text: string): PurgeOrder => ({
  selector: { kind: 'url', url: `https://a.test/${text}`, keys: [KEY] },
  soft: false,
  undoes: null,
});

const ORDERS: readonly PurgeOrder[] = [
  order('a'),
  { selector: { kind: 'pattern', pattern: '/é*', hostId: 1 }, soft: true, undoes: null },
  { selector: { kind: 'pattern', pattern: '~^/"x', hostId: null }, soft: true, undoes: 2 },
  { selector: { kind: 'tag', tag: 'a-b', hostId: null }, soft: false, undoes: null },
  { selector: { kind: 'host', hostId: 7 }, soft: false, undoes: null },
  { selector: { kind: 'all' }, soft: true, undoes: null },
];

/** Runs the contract against one kind of log. */
export function describePurgeLog(
  name: string,
  open: (clock: TestClock) => Promise<PurgeLogSubject>,
): void {
  describe(`purge log: ${name}`, () => {
    let clock: TestClock;
    let subject: PurgeLogSubject;
    let one: PurgeLog;
    let other: PurgeLog;
    beforeEach(async () => {
      clock = createTestClock();
      subject = await open(clock);
      [one, other] = subject.clients;
    });
    afterEach(() => subject.dispose());

    const append = async (log: PurgeLog, what: PurgeOrder): Promise<PurgeRecord> => {
      const done = await log.append(what);
      if (done.state === 'unavailable') throw new Error(done.reason);
      return done.value;
    };
    const readAfter = async (log: PurgeLog, seq: number): Promise<PurgeNews> => {
      const done = await log.readAfter(seq);
      if (done.state === 'unavailable') throw new Error(done.reason);
      return done.value;
    };
    const catchUp = async (log: PurgeLog): Promise<number> => {
      let end = 0;
      await waitUntil('the log says where it ends', async () => {
        ({ end } = await readAfter(log, end));
        return log.isCaughtUp(end);
      });
      return end;
    };

    test('an empty log ends at 0', async () => {
      const nothing = { records: [], end: 0, droppedTo: 0, life: expect.any(String) };
      expect(await readAfter(one, 0)).toEqual(nothing);
      expect(await catchUp(one)).toBe(0);
    });

    test('what one writes the other reads, in order, whole', async () => {
      const written: PurgeRecord[] = [];
      for (const [i, what] of ORDERS.entries()) {
        written.push(await append(i % 2 === 0 ? one : other, what));
      }
      expect(written).toMatchObject(ORDERS);
      const places = written.map(({ seq }) => seq);
      expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
      for (const log of [one, other]) {
        const news = await readAfter(log, 0);
        expect(news).toMatchObject({ records: written, end: places.at(-1) });
        const behind = await readAfter(log, places[2] ?? 0);
        expect(behind.records).toEqual(written.slice(3));
        expect((await readAfter(log, news.end)).records).toEqual([]);
      }
    });

    test('when a purge answers, nobody believes that the log ends before it', async () => {
      let end = await catchUp(one);
      await catchUp(other);
      for (let round = 0; round < 20; round += 1) {
        const { seq } = await append(round % 2 === 0 ? one : other, order(String(round)));
        expect([one.isCaughtUp(end), other.isCaughtUp(end)]).toEqual([false, false]);
        expect(await catchUp(one)).toBe(seq);
        expect(await catchUp(other)).toBe(seq);
        end = seq;
      }
    });

    test('purges written at once have places of their own', async () => {
      const done = await Promise.all(
        Array.from({ length: 40 }, (_, i) => append(i % 2 === 0 ? one : other, order(String(i)))),
      );
      const { records } = await readAfter(one, 0);
      expect(new Set(records.map(({ seq }) => seq)).size).toBe(40);
      expect(records).toEqual(done.toSorted((a, b) => a.seq - b.seq));
      expect(await readAfter(other, 0)).toMatchObject({ records });
    });

    test('a record that can’t be read means every page', async () => {
      const { seq } = await append(one, order('a'));
      const texts = ['', 'x', '{"selector":{"kind":"moon"},"soft":true,"undoes":null,"at":1}'];
      for (const [i, text] of texts.entries()) await subject.plant(seq + 1 + i, text);
      const { records } = await readAfter(other, seq);
      expect(records).toHaveLength(texts.length);
      for (const { selector, soft, undoes } of records) {
        expect({ selector, soft, undoes }).toEqual({
          selector: { kind: 'all' },
          soft: false,
          undoes: null,
        });
      }
    });

    test('has one name, whoever asks, until it is lost', async () => {
      const { life } = await readAfter(one, 0);
      for (const log of [one, other]) {
        await catchUp(log);
        const { seq } = await append(log, order('a'));
        expect(await readAfter(log, seq)).toMatchObject({ life });
        await catchUp(log);
        expect(log.life()).toBe(life);
      }
      await subject.lose();
      const next = (await readAfter(other, 0)).life;
      expect(next).not.toBe(life);
      for (const log of [one, other]) {
        expect(await readAfter(log, 0)).toMatchObject({ life: next });
        await waitUntil('the name is known', async () => {
          await catchUp(log);
          return log.life() === next;
        });
      }
      await append(one, order('b'));
      expect(await readAfter(other, 0)).toMatchObject({ life: next, records: { length: 1 } });
    });

    test('a log that was lost ends before the places it gave', async () => {
      const { seq } = await append(one, order('a'));
      await catchUp(other);
      await subject.lose();
      await waitUntil('the loss is seen', async () => {
        const { end, records } = await readAfter(other, seq);
        return end < seq && records.length === 0 && !other.isCaughtUp(seq);
      });
    });
  });
}

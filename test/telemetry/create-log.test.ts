// The log: every line is one JSON object with the same members in the same order, whoever wrote it;
// lines keep their order, and those of one turn are one write.

import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  createLog,
  type Log,
  type LogFields,
  type LogLevel,
} from '../../src/adapters/telemetry/create-log.ts';

interface Listening {
  readonly log: Log;
  readonly writes: readonly string[];
  readonly lines: () => readonly LogFields[];
}

function listen(level: LogLevel = 'info', base?: LogFields): Listening {
  const writes: string[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk.toString('utf8'));
      done();
    },
  });
  const lines = (): readonly LogFields[] =>
    writes
      .join('')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { log: createLog(level, output, base), writes, lines };
}

test.each([[undefined], [{ worker: 3, 'name "x"': 'ä\n' }]])(
  'a frequent line is like any other, %j in both',
  async (base) => {
    const { log, writes } = listen('info', base);
    log.info('request', { a: 1, b: 'x"\n' });
    log.infoOften('request', () => '"a":1,"b":"x\\"\\n"');
    await nextTurn();
    const [one, other] = writes.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'));
    expect(one).toBe(other);
    const times = writes.map((line) => Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? ''));
    for (const time of times) expect(Math.abs(Date.now() - time)).toBeLessThan(20_000);
  },
);

test('the lines of a turn are one write, those of the next another', async () => {
  const { log, writes, lines } = listen();
  for (let turn = 1; turn <= 3; turn += 1) {
    for (let i = 0; i < 5; i += 1) log.infoOften('often', () => `"turn":${turn},"i":${i}`);
    expect(writes).toHaveLength(turn - 1);
    await nextTurn();
    expect(writes).toHaveLength(turn);
  }
  expect(lines().map(({ turn, i }) => [turn, i])).toEqual(
    [1, 2, 3].flatMap((turn) => [0, 1, 2, 3, 4].map((i) => [turn, i])),
  );
});

test('lines keep their order, whoever wrote them', async () => {
  const { log, lines } = listen();
  log.infoOften('1', () => '"a":1');
  log.warn('2');
  log.infoOften('3', () => '"a":1');
  log.infoOften('4', () => '"a":1');
  log.error('5', { a: 1 });
  log.infoOften('6', () => '"a":1');
  await nextTurn();
  expect(lines().map(({ msg, level }) => [msg, level].join(' '))).toEqual([
    ...['1 info', '2 warn', '3 info', '4 info', '5 error', '6 info'],
  ]);
});

test('many lines in one turn are written in pieces, whole lines each', async () => {
  const { log, writes, lines } = listen();
  const text = 'x'.repeat(1_000);
  for (let i = 0; i < 200; i += 1) log.infoOften('often', () => `"i":${i},"text":"${text}"`);
  expect(writes.length).toBeGreaterThan(1);
  await nextTurn();
  for (const write of writes)
    expect([write.endsWith('}\n'), write.length < 70_000]).toEqual([true, true]);
  expect(lines().map(({ i }) => i)).toEqual(Array.from({ length: 200 }, (_, i) => i));
});

test('where the level is higher, members are not even made', async () => {
  const { log, writes, lines } = listen('warn');
  const unwanted = (): string => {
    throw new Error('nobody wants them');
  };
  log.infoOften('often', unwanted);
  await nextTurn();
  expect(writes).toEqual([]);
  log.setLevel('info');
  log.infoOften('often', () => '"a":1');
  log.setLevel('silent');
  log.infoOften('often', unwanted);
  await nextTurn();
  expect(lines().map(({ msg }) => msg)).toEqual(['often']);
});

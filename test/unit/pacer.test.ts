// Waits that a stop ends, however many there are at once.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createPacer } from '../../src/pipeline/upkeep/pacer.ts';

test('a stop ends all waits at once; hundreds of them are no reason for a warning', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const pacer = createPacer();
  const waits = Array.from({ length: 300 }, () => pacer.wait(60_000));
  pacer.stop();
  await Promise.all(waits);
  expect(pacer.isStopped()).toBe(true);
  // Warnings come in order, and later than what causes them.
  const last = new Error('the last one');
  process.emitWarning(last);
  while (!warnings.includes(last)) await once(process, 'warning');
  process.off('warning', note);
  expect(warnings).toEqual([last]);
});

// The suites of bypass once more, with the lane before it: what it takes must hold all of them.
import { afterAll, describe, expect } from 'vitest';
import { listLaneTurnEnds, passByLane } from '../helpers/bypass-gateway.ts';

passByLane();
afterAll(() => {
  expect(listLaneTurnEnds().length).toBeGreaterThan(50);
  expect(new Set(listLaneTurnEnds())).toEqual(new Set([1]));
});

describe('by the lane', async () => {
  await import('./requests.test.ts');
  await import('./responses.test.ts');
  await import('./connections.test.ts');
  await import('./slow-readers.test.ts');
  await import('./websocket.test.ts');
  await import('../attack/origin-answers.test.ts');
  await import('../attack/timing.test.ts');
});

// The bounded memo: what was used lately stays, and it never holds more than twice its size.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRecentMap } from '../../src/core/recent-map.ts';

const MAX = 4;

type Step =
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'set'; readonly key: string; readonly value: number | null };

const anyKey = fc.constantFrom(...'abcdefghijklmnop');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('get' as const), key: anyKey }),
  fc.record({
    kind: fc.constant('set' as const),
    key: anyKey,
    value: fc.constantFrom(null, 1, 2, 3),
  }),
);

describe('createRecentMap', () => {
  test('says what was said last, or nothing; what was used lately is there', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 80 }), (steps) => {
        const map = createRecentMap<number | null>(MAX);
        const said = new Map<string, number | null>();
        /** Used last comes last. */
        let used: string[] = [];
        for (const step of steps) {
          const isRecent = used.slice(-MAX).includes(step.key);
          if (step.kind === 'set') {
            map.set(step.key, step.value);
            said.set(step.key, step.value);
          } else {
            const found = map.get(step.key);
            if (isRecent) expect(found).toBe(said.get(step.key));
            else expect([said.get(step.key), undefined]).toContain(found);
            if (found === undefined) continue;
          }
          used = [...used.filter((key) => key !== step.key), step.key];
        }
        const held = [...'abcdefghijklmnop'].filter((key) => map.get(key) !== undefined);
        expect(held.length).toBeLessThanOrEqual(2 * MAX);
      }),
    );
  });

  test('holds nothing when it was cleared', () => {
    const map = createRecentMap<number>(MAX);
    for (let i = 0; i < 3 * MAX; i += 1) map.set(String(i), i);
    map.clear();
    for (let i = 0; i < 3 * MAX; i += 1) expect(map.get(String(i))).toBeUndefined();
  });
});

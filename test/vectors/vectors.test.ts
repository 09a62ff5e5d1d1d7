// Every vector of the specification: input and configuration → URL and hash, or a named error.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import {
  compileNormalization,
  type NormalizationLevels,
} from '../../src/config/compile-normalization.ts';
import { loadDefaults } from '../../src/config/load-defaults.ts';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { Hasher } from '../../src/pipeline/ports.ts';

interface Vector {
  readonly id: string;
  readonly group: string;
  readonly input: string;
  readonly config: NormalizationLevels;
  readonly expected: string | { readonly error: string };
  readonly xxh64?: string;
  readonly why: string;
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('normalization.json', import.meta.url), 'utf8'),
);

let hasher: Hasher;
beforeAll(async () => {
  hasher = await createHasher();
});

describe.each([...groupByGroup(vectors)])('%s', (_group, members) => {
  test.each(members.map((vector) => [vector.id, vector.why, vector] as const))(
    '%s %s',
    (_id, _why, vector) => {
      const compiled = compileNormalization(vector.config);
      if (!compiled.ok) {
        expect(vector.expected).toEqual({ error: 'config' });
        return;
      }
      const defaults = loadDefaults();
      const decider = createDecider(
        { limits: defaults.limits, global: { ...defaults.global, ...compiled.value }, hosts: [] },
        hasher.text,
      );
      const decision = decider.decide(
        { url: vector.input, method: 'GET', userAgent: '', hasAuthorization: false },
        null,
      );
      if (typeof vector.expected !== 'string') {
        expect({ error: decision.error }).toEqual(vector.expected);
        return;
      }
      expect(decision.normalized).toBe(vector.expected);
      expect(decision.error === null && decision.hash).toBe(vector.xxh64);
      const again = decider.decide(
        { url: vector.expected, method: 'GET', userAgent: '', hasAuthorization: false },
        null,
      );
      expect(again.normalized).toBe(vector.expected);
    },
  );
});

test('no vector is missing', () => {
  expect(vectors.length).toBeGreaterThanOrEqual(175);
});

function groupByGroup(list: readonly Vector[]): ReadonlyMap<string, readonly Vector[]> {
  const groups = new Map<string, Vector[]>();
  for (const vector of list) {
    groups.set(vector.group, [...(groups.get(vector.group) ?? []), vector]);
  }
  return groups;
}

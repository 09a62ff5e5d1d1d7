// A purge as text: what is written comes back, and what can't be read means every page.
import { expect, test } from 'vitest';
import { decodePurge, encodePurge } from '../../../src/core/purge/purge-codec.ts';
import type { PurgeOrder, PurgeSelector } from '../../../src/core/purge/purge-record.ts';

const KEY = 'cache:1:2:0123456789abcdef';

const SELECTORS: readonly PurgeSelector[] = [
  { kind: 'url', url: 'https://a.test/é', keys: [KEY] },
  { kind: 'url', url: 'https://a.test/', keys: [], learned: 'params=("a")' },
  { kind: 'url', url: 'https://a.test/', keys: [KEY], dimensionId: 0 },
  { kind: 'pattern', pattern: '~^/"x', hostId: null },
  { kind: 'tag', tag: 'a-b', hostId: 7 },
  { kind: 'host', hostId: 1 },
  { kind: 'all' },
];

test.each(SELECTORS)('$kind comes back as it was', (selector) => {
  for (const order of [
    { selector, soft: false, undoes: null },
    { selector, soft: true, undoes: 4 },
  ] satisfies readonly PurgeOrder[]) {
    expect(decodePurge(7, encodePurge(order, 5))).toEqual({ ...order, seq: 7, at: 5 });
  }
});

test.each([
  '',
  'x',
  'null',
  '[]',
  '{}',
  '{"selector":null,"soft":true,"undoes":null,"at":1}',
  '{"selector":{"kind":"moon"},"soft":true,"undoes":null,"at":1}',
  '{"selector":{"kind":"url","url":1,"keys":[]},"soft":true,"undoes":null,"at":1}',
  '{"selector":{"kind":"url","url":"x","keys":["x"]},"soft":true,"undoes":null,"at":1}',
  '{"selector":{"kind":"tag","tag":"a","hostId":"1"},"soft":true,"undoes":null,"at":1}',
  '{"selector":{"kind":"host"},"soft":true,"undoes":null,"at":1}',
  '{"selector":{"kind":"all"},"soft":true,"undoes":"1","at":1}',
])('%s means every page', (text) => {
  expect(decodePurge(7, text)).toEqual({
    ...{ seq: 7, at: 0, selector: { kind: 'all' } },
    ...{ soft: false, undoes: null },
  });
});

// The built-in dimensions, against real User-Agents.
import { expect, test } from 'vitest';
import { indexDimensions } from '../../src/core/routing/match-dimension.ts';
import { loadValid, onlyHost } from './helpers.ts';
import { USER_AGENTS } from './user-agents.ts';

const dimensions = indexDimensions(onlyHost(await loadValid({})));

test.each(USER_AGENTS)('%s → %s', (userAgent, name) => {
  const found = dimensions.find(userAgent).dimension;
  expect(found === 'block' ? found : found.name).toBe(name);
});

test('the table is long enough to mean something, and has no row twice', () => {
  expect(USER_AGENTS.length).toBeGreaterThan(60);
  expect(new Set(USER_AGENTS.map(([userAgent]) => userAgent)).size).toBe(USER_AGENTS.length);
});

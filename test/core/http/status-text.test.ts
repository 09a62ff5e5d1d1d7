// One wording of every status, for status lines and bodies: Node's, but for what has other names
// now.
import { STATUS_CODES } from 'node:http';
import { expect, test } from 'vitest';
import { troubleText } from '../../../src/core/http/plain-text.ts';
import { reasonPhrase, statusText } from '../../../src/core/http/status-text.ts';

const OTHERWISE: Readonly<Record<string, string>> = {
  413: 'Content Too Large',
  418: "I'm a teapot",
  422: 'Unprocessable Content',
  // In no registry.
  509: '',
};

test.each(Object.entries(STATUS_CODES))('%s', (code, name) => {
  expect(reasonPhrase(Number(code))).toBe(OTHERWISE[code] ?? name);
});

test('a status line and a body say the same', () => {
  expect(troubleText(413, 'id')).toBe(`413 ${reasonPhrase(413)}\nrequest id: id\n`);
});

test('a status that has no name is its number', () => {
  expect([reasonPhrase(599), statusText(599)]).toEqual(['', 'Status 599']);
});

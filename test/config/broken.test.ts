// Every broken configuration is refused at the exact line and column, with exactly one error.
import { describe, expect, test } from 'vitest';
import { BROKEN_GATEWAY, type BrokenCase } from './broken-gateway.ts';
import { BROKEN_HOSTS } from './broken-hosts.ts';
import { loadFiles } from './helpers.ts';

const MARK = '‸';

async function check(file: string, broken: BrokenCase): Promise<void> {
  const before = broken.text.slice(0, broken.text.indexOf(MARK));
  const lines = before.split('\n');
  const { config, errors } = await loadFiles({ [file]: broken.text.replace(MARK, '') });
  expect(config).toBeNull();
  expect(errors.map(({ message, line }) => `${line}: ${message}`)).toHaveLength(1);
  const [error] = errors;
  expect(error).toMatchObject({
    file,
    line: lines.length,
    column: (lines.at(-1) ?? '').length + 1,
  });
  expect(error?.message).toContain(broken.message);
  if (broken.hint !== undefined) expect(error?.hint).toContain(broken.hint);
}

describe('edge-gateway.yaml', () => {
  test.each(BROKEN_GATEWAY)('$name', (broken) => check('edge-gateway.yaml', broken));
});

describe('hosts.yaml', () => {
  test.each(BROKEN_HOSTS)('$name', (broken) => check('hosts.yaml', broken));
});

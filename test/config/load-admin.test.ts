// The admin section alone: where a gateway is asked although something else in the files is wrong.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadAdmin } from '../../src/config/load-admin.ts';
import { withFiles } from '../cli/run-command.ts';

const DEFAULT = { listen: { host: '127.0.0.1', port: 9090 }, token: null };
const GIVEN = { listen: { host: '127.0.0.1', port: 9191 }, token: 'secret' };
const ADMIN = 'admin: { listen: "127.0.0.1:9191", token: "${TOKEN}" }\n';

// Its text → where the gateway is asked; null: nobody knows.
test.each([
  ['nothing of it', 'render: { engine: origin }\n', DEFAULT],
  ['all of it', ADMIN, GIVEN],
  ['an unknown key elsewhere', `${ADMIN}rendr: {}\n`, GIVEN],
  ['a wrong type elsewhere', `${ADMIN}server: 5\n`, GIVEN],
  ['a variable that is missing elsewhere', `${ADMIN}redis: { url: "\${NOWHERE}" }\n`, GIVEN],
  ['hosts that are not there', `${ADMIN}hosts: { include: nowhere/*.yaml }\n`, GIVEN],
  ['no value', 'admin:\n', DEFAULT],
  ['a variable that is missing', 'admin: { token: "${NOWHERE}" }\n', null],
  ['a bad address', 'admin: { listen: "localhost:x" }\n', null],
  ['an address of the wrong type', 'admin: { listen: [9191] }\n', null],
  ['a token with a space', 'admin: { token: "a b" }\n', null],
  ['a misspelt key', 'admin: { tokn: abc }\n', null],
  ['no section', 'admin: 9191\n', null],
  ['no YAML', 'admin: {\n', null],
  ['no map', '- admin\n', null],
  ['nothing', '', null],
])('%s', async (_what, text, expected) => {
  await withFiles({ 'edge-gateway.yaml': text }, async (folder) => {
    const file = join(folder, 'edge-gateway.yaml');
    expect(await loadAdmin(file, { TOKEN: 'secret' })).toEqual(expected);
  });
});

test('no file', async () => {
  expect(await loadAdmin('/nowhere/edge-gateway.yaml', {})).toBe(null);
});

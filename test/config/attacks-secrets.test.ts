// Secrets in messages, and one message for one mistake where a variable is missing.
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/config/diagnostic.ts';
import { loadFiles, PLAIN_GATEWAY, PLAIN_HOSTS } from './helpers.ts';

const NUMBER = '90210777';

test.each([
  ['admin token', `admin: { token: ${NUMBER} }\n`, ''],
  ['render key', '', `    render_key: ${NUMBER}\n`],
  ['Redis password', `redis: { addr: "127.0.0.1:1", password: ${NUMBER} }\n`, ''],
  ['Redis address', `redis: { addr: "u:${NUMBER}@h" }\n`, ''],
])('%s: its value is not printed', async (_what, gateway, hosts) => {
  const { errors } = await loadFiles({
    'edge-gateway.yaml': PLAIN_GATEWAY + gateway,
    'hosts.yaml': PLAIN_HOSTS + hosts,
  });
  expect(errors).toHaveLength(1);
  expect(errors.map(formatDiagnostic).join('\n')).not.toContain(NUMBER);
});

describe('a variable that is not set', () => {
  test('is the only thing said about its value', async () => {
    const { errors } = await loadFiles({
      'hosts.yaml': `${PLAIN_HOSTS}    origin: "http://\${A}/\${B}"\n`,
    });
    expect(errors.map(({ message }) => message)).toEqual([
      'the environment variable A is not set',
      'the environment variable B is not set',
    ]);
  });

  test.each(['redis: { url: ${REDIS_URL} }\n', 'redis: { db: 1, url: ${REDIS_URL:-x} }\n'])(
    'without quotes in a flow mapping there is a hint: %s',
    async (gateway) => {
      const { errors } = await loadFiles({ 'edge-gateway.yaml': gateway });
      expect(errors[0]?.hint).toContain('in quotes');
    },
  );
});

test.each([
  ['[Accept-Language]', 1],
  ['[]', 0],
])('safe_request: %s draws %i warnings', async (list, count) => {
  const { warnings } = await loadFiles({
    'edge-gateway.yaml': `${PLAIN_GATEWAY}headers: { safe_request: ${list} }\n`,
  });
  expect(warnings).toHaveLength(count);
});

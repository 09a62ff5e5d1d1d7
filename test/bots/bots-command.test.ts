// `edge-gateway bots` and `explain --address`, and the lint of names that nobody sends (case G5).
import { expect, test } from 'vitest';
import { runCommand, withFiles } from '../cli/run-command.ts';
import { GOOGLEBOT, GPTBOT } from './bot-parts.ts';

const FETCHED = new Date().toISOString();
const LIST = JSON.stringify({ fetchedAt: FETCHED, prefixes: [{ ipv4Prefix: '192.0.2.0/24' }] });
const OPENAI = ['gptbot', 'searchbot', 'chatgpt-user', 'adsbot'];
const FILES = {
  'edge-gateway.yaml': 'render: {engine: origin}\n',
  'hosts.yaml': 'hosts:\n  - {id: 1, domain: site.test, origin: "http://127.0.0.1:9"}\n',
  ...Object.fromEntries(OPENAI.map((name) => [`data/bots/openai-${name}.json`, LIST])),
};

async function run(...argv: readonly string[]) {
  return await withFiles(
    FILES,
    async (folder) => await runCommand([...argv, '-c', `${folder}/edge-gateway.yaml`]),
  );
}

test.each([
  [GPTBOT, '192.0.2.7', 'verified (list): GPTBot of openai (ai_train)\n'],
  [GPTBOT, '203.0.113.9', 'forged (not_listed): GPTBot of openai (ai_train)\n'],
  [GOOGLEBOT, '127.0.0.1', 'unverifiable (local_address): Googlebot of google (search)\n'],
  ['curl/8.5.0', '192.0.2.7', 'the User-Agent names no known crawler\n'],
])('bots check: %s from %s', async (userAgent, address, expected) => {
  const { status, stdout, stderr } = await run('bots', 'check', address, '-A', userAgent);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: expected, stderr: '' });
});

test('bots check without a name lists what could not be told', async () => {
  const { status, stdout } = await run('bots', 'check', '10.0.0.1');
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^no owner is verified by this address\nunverifiable \(local_address\): google\n/,
  );
});

test.each([
  [['bots'], 'bots takes "refresh", "pattern", or "check" and an IP address'],
  [['bots', 'check'], 'bots takes'],
  [['bots', 'refresh', 'google'], 'bots takes'],
  [['bots', 'pattern', 'nginx'], 'bots takes'],
  [['bots', 'check', 'example.com'], 'bots check takes an IP address, not "example.com"'],
  [
    ['bots', 'refresh', '--owner', 'nobody'],
    'no owner "nobody" publishes lists; these do: google, ',
  ],
  [['explain', 'https://site.test/', '--address', 'x'], '--address takes an IP address, not "x"'],
])('wrong usage: %j', async (argv, message) => {
  const { status, stderr } = await run(...argv);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});

test.each([
  ['192.0.2.7', 'render', 'dimension', 'verified'],
  ['203.0.113.9', 'bypass', 'forged_bot', 'forged'],
  ['127.0.0.1', 'render', 'dimension', 'unverifiable'],
])('explain --address %s', async (address, action, reason, verdict) => {
  const argv = ['explain', 'https://site.test/', '-A', GPTBOT, '--address', address];
  const { status, stdout } = await run(...argv, '--json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    action,
    reason,
    bot: { owner: 'openai', token: 'GPTBot', kind: 'ai_train', verdict },
  });
  const text = (await run(...argv)).stdout;
  expect(text).toMatch(new RegExp(`^bot +GPTBot of openai \\(ai_train\\), ${verdict}: `, 'm'));
});

test('G5: a name for robots.txt in match_ua is told, and works all the same', async () => {
  const files = {
    ...FILES,
    'edge-gateway.yaml':
      'render: {engine: origin}\ndimensions: {ai: {id: 3, match_ua: ["*google-extended*", $AICrawlers]}}\n',
  };
  await withFiles(files, async (folder) => {
    const { status, stderr } = await runCommand(['check', '-c', `${folder}/edge-gateway.yaml`]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/:2:\d+: warning: "Google-Extended" is a name for robots.txt/);
    expect(stderr.match(/warning/g)).toHaveLength(1);
  });
});

test.each([
  ['bots: {verify: maybe}', /bots\.verify|"maybe"|must be/],
  ['bots: {forged: render}', /must be|one of/],
  ['bots: {preview_wait: 1m}', /previews that wait for more than 30s/],
  ['bots: {verfy: "on"}', /did you mean "verify"/],
])('check refuses %s', async (line, message) => {
  const files = { ...FILES, 'edge-gateway.yaml': `render: {engine: origin}\n${line}\n` };
  await withFiles(files, async (folder) => {
    const { status, stderr } = await runCommand(['check', '-c', `${folder}/edge-gateway.yaml`]);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
  });
});

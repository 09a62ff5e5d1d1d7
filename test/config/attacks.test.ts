// Group F of the attack list: configuration as an attack or an accident. What is only a wrong value
// is in the tables of broken.test.ts and values.test.ts; here is what could hang, crash or leak.
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CAPS } from '../../src/config/caps.ts';
import { formatDiagnostic } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import {
  loadFiles,
  loadValid,
  onlyHost,
  PLAIN_GATEWAY,
  PLAIN_HOSTS,
  withFolder,
} from './helpers.ts';

/** Generous for a noisy machine; what these inputs do elsewhere takes minutes. */
const QUICK_MS = 5_000;

async function messagesOf(gateway: string | Uint8Array): Promise<readonly string[]> {
  const { errors } = await loadFiles({ 'edge-gateway.yaml': gateway });
  return errors.map(({ message }) => message);
}

describe('F01, F02, F06: anchors, aliases, merges', () => {
  test('an alias bomb is refused', { timeout: QUICK_MS }, async () => {
    const levels = 'abcdefghi'.split('').map((name, index) => {
      const below = index === 0 ? 'x' : `*${'abcdefghi'[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(below).join(', ')}]`;
    });
    expect(await messagesOf(levels.join('\n'))).toContain('YAML aliases are not used here');
  });

  test('a merge of __proto__ changes nothing', async () => {
    const messages = await messagesOf('<<: { __proto__: { polluted: 1 } }\n');
    expect(messages).toEqual(['unknown key "<<"']);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

test('F03: every duplicate key is reported, not only the first', async () => {
  const messages = await messagesOf('log: {}\nlog: {}\nserver: { timeout: 5s, timeout: 6s }\n');
  expect(messages).toEqual(['duplicate key "log"', 'duplicate key "timeout"']);
});

test('F05: __proto__ and constructor are unknown keys at every depth', async () => {
  const messages = await messagesOf(
    '__proto__: { polluted: 1 }\nconstructor: { prototype: {} }\nserver: { __proto__: {} }\n' +
      'dimensions: { __proto__: { id: 5 } }\n',
  );
  expect(messages.filter((message) => message.includes('unknown key'))).toHaveLength(3);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

describe('F09, F10: size, count, depth', () => {
  test('50,000 keys in one map', { timeout: QUICK_MS }, async () => {
    const keys = Array.from({ length: 50_000 }, (_unused, index) => `k${index}: ${index}`);
    expect(await messagesOf(keys.join('\n'))).toEqual([
      `a map of 50000 keys; at most ${CAPS.keysPerMapMax} are read`,
    ]);
  });

  test('20,000 open brackets', { timeout: QUICK_MS }, async () => {
    expect((await messagesOf('['.repeat(20_000)))[0]).toContain('nesting');
  });

  test('a file beyond the cap', { timeout: QUICK_MS }, async () => {
    expect(await messagesOf(`# ${'x'.repeat(CAPS.fileBytesMax)}\n`)).toEqual([
      `edge-gateway.yaml: the file is larger than ${CAPS.fileBytesMax} bytes`,
    ]);
  });

  test('2,000 hosts load', { timeout: 4 * QUICK_MS }, async () => {
    const hosts = Array.from(
      { length: 2_000 },
      (_unused, index) => `  - { id: ${index + 1}, domain: h${index}.example }\n`,
    );
    const config = await loadValid({ 'hosts.yaml': `hosts:\n${hosts.join('')}` });
    expect(config.policies.hosts).toHaveLength(2_000);
  });

  test('a thousand mistakes are all reported, and no more', { timeout: QUICK_MS }, async () => {
    const hosts = Array.from({ length: 1_500 }, () => '  - { id: 0, domain: a..b }\n');
    const { errors } = await loadFiles({ 'hosts.yaml': `hosts:\n${hosts.join('')}` });
    expect(errors).toHaveLength(1_000);
  });
});

describe('F11: bytes', () => {
  test('a byte order mark and CRLF are fine, and columns do not move', async () => {
    const text = `\uFEFF${PLAIN_GATEWAY}log: { levl: info }\n`.replaceAll('\n', '\r\n');
    const { errors } = await loadFiles({ 'edge-gateway.yaml': text });
    expect(errors).toMatchObject([{ line: 2, column: 8, message: 'unknown key "levl"' }]);
    await loadValid({ 'edge-gateway.yaml': `\uFEFF${PLAIN_GATEWAY}`.replaceAll('\n', '\r\n') });
  });

  test('a column counts the text before it, not its bytes', async () => {
    const { errors } = await loadFiles({
      'edge-gateway.yaml': `${PLAIN_GATEWAY}log: { "é": 1, levl: info }\n`,
    });
    expect(errors).toMatchObject([{ column: 8 }, { column: 16 }]);
  });

  test('what is not UTF-8', async () => {
    expect(await messagesOf(Buffer.from([0x61, 0xff, 0xfe]))).toEqual([
      'edge-gateway.yaml: the file is not UTF-8 text',
    ]);
  });
});

describe('F13, F15: patterns that make others hang', () => {
  test.each(['~.*.*.*=.*', '~(a+)+$', '*a*a*a*a*a*a*b', `*${'\\'.repeat(6)}`, '~^(a|a)*$'])(
    '%s',
    { timeout: QUICK_MS },
    async (source) => {
      const config = await loadValid({
        'edge-gateway.yaml': `${PLAIN_GATEWAY}tracking_params: { params: ['${source}'] }\n`,
      });
      const text = `${'a'.repeat(3_000)}!`;
      expect(config.policies.global.tracking.matcher.find(text)).toBeUndefined();
    },
  );
});

describe('F18: one domain in two files', () => {
  test.each([
    ['example.com', 'EXAMPLE.com.'],
    ['*.example.com', '"*.EXAMPLE.com"'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '"0x7f.1"'],
    ['"::1"', '"[0:0::1]"'],
  ])('%s and %s', async (first, second) => {
    const { errors } = await loadFiles({
      'edge-gateway.yaml': `${PLAIN_GATEWAY}hosts: { include: h.d }\n`,
      'h.d/a.yaml': `hosts:\n  - id: 1\n    origin: http://o\n    domain: '${first.replaceAll('"', '')}'\n`,
      'h.d/b.yml': `hosts:\n  - id: 2\n    origin: http://o\n    domain: '${second.replaceAll('"', '')}'\n`,
    });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ file: 'h.d/b.yml', line: 4, column: 13 });
    expect(errors[0]?.message).toContain('is taken at h.d/a.yaml:4:13');
  });
});

describe('F19: secrets', () => {
  const SECRET = 'hunter2-secret';

  test('a render key out of the environment', async () => {
    const hosts = `${PLAIN_HOSTS}    render_key: "\${KEY}"\n`;
    const load = (env: Record<string, string>) => loadFiles({ 'hosts.yaml': hosts }, env);
    expect((await load({})).errors[0]?.message).toBe('the environment variable KEY is not set');
    expect((await load({ KEY: '' })).errors[0]?.message).toContain('render key is empty');
    const broken = await load({ KEY: `${SECRET}\n` });
    expect(broken.errors[0]?.message).toContain('control character');
    const { config } = await load({ KEY: SECRET });
    expect(config?.policies.hosts[0]?.renderKey).toBe(SECRET);
  });

  const leaky: readonly (readonly [string, string, string])[] = [
    ['a literal password', `redis: { url: "redis://u:${SECRET}@h/x" }\n`, ''],
    [
      'a Redis password beside a bad address',
      `redis: { addr: nonsense, password: ${SECRET} }\n`,
      '',
    ],
    ['a token with a blank', `admin: { token: "${SECRET} x" }\n`, ''],
    ['a token of the wrong type', `admin: { token: [${SECRET}] }\n`, ''],
    ['an unquoted token with a star', `admin: { token: *${SECRET} }\n`, ''],
    ['a token with an anchor', `admin: { token: &${SECRET} x }\n`, ''],
    ['a token with a tag', `admin: { token: !${SECRET} x }\n`, ''],
    ['a broken line', `admin: { token: ${SECRET}: x: y }\n`, ''],
    ['an origin with a password', '', `    origin: http://u:${SECRET}@h\n`],
    [
      'a service URL with a password',
      `render: { service: { urls: ["ftp://u:${SECRET}@h"] } }\n`,
      '',
    ],
    ['a render key with a blank', '', `    render_key: "${SECRET} x"\n`],
    ['a value from the environment in a wrong place', 'server: { timeout: "${SECRET}" }\n', ''],
    ['the same where one word of several is wanted', 'log: { level: "${SECRET}" }\n', ''],
    ['the same in a pattern', 'tracking_params: { params: ["~(${SECRET}"] }\n', ''],
    ['the same as preset', 'tracking_params: { presets: ["${SECRET}"] }\n', ''],
    ['the same as dimension', 'unmatched_dimension: "${SECRET}"\n', ''],
    ['the same in a rule', '', '    url_rules: [{ match: "${SECRET}", id: "${SECRET} x" }]\n'],
    ['the same as domain of two hosts', '', '  - { id: 2, domain: ["${SECRET}", "${SECRET}"] }\n'],
    [
      'the same as locale',
      'normalization: { locale_redirect: { default: "${SECRET}", locales: [en] } }\n',
      '',
    ],
  ];
  test.each(leaky)('%s is not printed', async (_name, gateway, hosts) => {
    const { diagnostics, errors } = await loadFiles(
      { 'edge-gateway.yaml': gateway || PLAIN_GATEWAY, 'hosts.yaml': PLAIN_HOSTS + hosts },
      { SECRET },
    );
    expect(errors.length).toBeGreaterThan(0);
    expect(diagnostics.map(formatDiagnostic).join('\n')).not.toContain(SECRET);
  });
});

describe('F22: a file that is not there, half there, or something else', () => {
  test('a folder, nothing, a half-written file', async () => {
    await withFolder({ 'edge-gateway.yaml/x': '' }, async (folder) => {
      const { config, diagnostics } = await loadConfig(join(folder, 'edge-gateway.yaml'), {});
      expect(config).toBeNull();
      expect(diagnostics[0]?.message).toContain('a folder, not a file');
    });
    const missing = await loadConfig('/nowhere/edge-gateway.yaml', {});
    expect(missing).toMatchObject({ config: null, diagnostics: [{ line: 1, column: 1 }] });
    for (const length of [1, 7, 12, 20, 28]) {
      const { config } = await loadFiles({ 'hosts.yaml': PLAIN_HOSTS.slice(0, length) });
      expect(config, `${length}`).toBeNull();
    }
  });

  test('a swapped symlink is read through', async () => {
    const files = { 'one/h.yaml': PLAIN_HOSTS, 'two/h.yaml': PLAIN_HOSTS.replace('1', '2') };
    await withFolder({ ...files, 'edge-gateway.yaml': PLAIN_GATEWAY }, async (folder) => {
      const load = () => loadConfig(join(folder, 'edge-gateway.yaml'), {});
      await symlink(join(folder, 'one/h.yaml'), join(folder, 'hosts.yaml'));
      const first = await load();
      await symlink(join(folder, 'two/h.yaml'), join(folder, 'next'));
      await rename(join(folder, 'next'), join(folder, 'hosts.yaml'));
      const second = await load();
      await rm(join(folder, 'hosts.yaml'));
      await writeFile(join(folder, 'hosts.yaml'), '');
      const third = await load();
      expect(first.config?.policies.hosts[0]?.id).toBe(1);
      expect(second.config?.policies.hosts[0]?.id).toBe(2);
      expect(third.config).toBeNull();
    });
  });
});

test('F23: all mistakes of all files come at once, errors and warnings apart', async () => {
  const { errors, warnings, config } = await loadFiles({
    'edge-gateway.yaml':
      'tracking_parms: {}\nserver: { timeout: 5 }\nbypass: { ssrf_protection: true }\nrender: { engine: origin, cache: { ttl: 1x } }\n',
    'hosts.yaml':
      'hosts:\n  - { id: 1, domain: "*" }\n  - { id: 2, domain: b.example, origin: x, url_rules: [{ match: "~(" }] }\n',
  });
  expect(config).toBeNull();
  expect(errors.map(({ file, line }) => `${file}:${line}`)).toEqual([
    'edge-gateway.yaml:1',
    'edge-gateway.yaml:2',
    'edge-gateway.yaml:4',
    'hosts.yaml:2',
    'hosts.yaml:3',
    'hosts.yaml:3',
  ]);
  expect(warnings.map(({ line }) => line)).toEqual([3]);
});

test('a domain given as IPv6 address has a policy of its own', async () => {
  const config = await loadValid({ 'hosts.yaml': 'hosts: [{ id: 1, domain: "::1" }]\n' });
  expect(onlyHost(config).domains).toEqual(['[::1]']);
});

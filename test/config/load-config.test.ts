// Files, includes, environment, and what becomes of hosts and rules.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileNormalization } from '../../src/config/compile-normalization.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import {
  loadFiles,
  loadValid,
  onlyHost,
  PLAIN_GATEWAY,
  PLAIN_HOSTS,
  withFolder,
} from './helpers.ts';

const host = (id: number): string => `hosts: [{ id: ${id}, domain: h${id}.example }]\n`;

test('thousands of hosts or expressions leave everybody else their turns', async () => {
  const rules = Array.from({ length: 1_500 }, (_, i) => `{ match: "~^/p${i}/[a-z]+$" }`).join(', ');
  const files = { 'hosts.yaml': `hosts: [{ id: 1, domain: h.example, url_rules: [${rules}] }]\n` };
  const all = { 'edge-gateway.yaml': PLAIN_GATEWAY, ...files };
  await withFolder(all, async (folder) => {
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);
    const { config } = await loadConfig(join(folder, 'edge-gateway.yaml'), {});
    clearInterval(ticking);
    expect(config?.policies.hosts[0]?.rules.length).toBe(1_500);
    // In one piece it is a handful, for the files.
    expect(turns).toBeGreaterThan(10);
  });
});

describe('hosts.include', () => {
  const files = {
    'h.d/20.yaml': host(2),
    'h.d/10.yml': host(1),
    'h.d/notes.txt': 'not read',
    'h.d/deep/30.yaml': host(3),
  };
  test.each([
    ['h.d', [1, 2]],
    ['h.d/', [1, 2]],
    ['h.d/20.yaml', [2]],
    ['h.d/*.yaml', [2]],
    ['h.d/*.{yaml,yml}', [1, 2]],
    ['h.d/[12]0.*', [1, 2]],
    ['h.d/**/*.yaml', [2, 3]],
    ['./h.d/*.yml', [1]],
    ['*/*0.yaml', [2]],
  ])('%s', async (include, ids) => {
    const gateway = `${PLAIN_GATEWAY}hosts: { include: "${include}" }\n`;
    const config = await loadValid({ ...files, 'edge-gateway.yaml': gateway });
    expect(config.policies.hosts.map(({ id }) => id)).toEqual(ids);
    expect(config.files).toHaveLength(ids.length + 1);
    expect(config.files.every((file) => file.startsWith('/'))).toBe(true);
  });

  test('an absolute path, and a file name as the user typed it', async () => {
    await withFolder({ 'a.yaml': 'hosts: {}\n' }, async (folder) => {
      const gateway = `${PLAIN_GATEWAY}hosts: { include: "${folder}/a.yaml" }\n`;
      const { errors } = await loadFiles({ 'edge-gateway.yaml': gateway });
      expect(errors).toMatchObject([{ file: join(folder, 'a.yaml'), line: 1, column: 8 }]);
    });
  });

  test('without the key, hosts.yaml beside the file', async () => {
    await withFolder({ 'e.yaml': PLAIN_GATEWAY }, async (folder) => {
      const { diagnostics } = await loadConfig(join(folder, 'e.yaml'), {});
      expect(diagnostics).toMatchObject([{ severity: 'error', line: 1, column: 1 }]);
      expect(diagnostics[0]?.hint).toContain('hosts.yaml beside this file');
    });
  });
});

describe('the environment', () => {
  const load = (gateway: string, env: Record<string, string>) =>
    loadValid({ 'edge-gateway.yaml': PLAIN_GATEWAY + gateway }, env);

  test('inside of a text, with and without a default, more than once', async () => {
    const { settings } = await load('redis: { url: "redis://${U}:${P:-p w}@${H:-h}/1" }\n', {
      U: 'me',
      H: '',
    });
    expect(settings.redis).toEqual({ kind: 'single', url: 'redis://me:p w@h/1' });
  });

  test('a number and a boolean where the schema wants one', async () => {
    const { settings } = await load(
      'server: { watch_config: "${W}", limits: { header_fields: "${N}" } }\nadmin: { token: "${T}" }\n',
      { W: 'false', N: '50', T: '12345' },
    );
    expect(settings.server.watchConfig).toBe(false);
    expect(settings.server.limits.headerFieldsMax).toBe(50);
    expect(settings.admin.token).toBe('12345');
  });

  test('a dollar without a brace is itself', async () => {
    const { policies } = await load('tracking_params: { params: ["~^a$", "$b"] }\n', {});
    expect(policies.global.tracking.matcher.find('a')?.level).toBe('global');
    expect(policies.global.tracking.matcher.find('$b')?.level).toBe('global');
  });
});

describe('settings', () => {
  test.each([
    ['{ enabled: true, listen: ":8081" }', { listen: { host: '0.0.0.0', port: 8081 } }],
    ['{ enabled: false, listen: ":8081" }', null],
    ['{ listen: ":8081" }', null],
  ])('the pull endpoints are off unless enabled: %s', async (text, expected) => {
    const { config } = await loadFiles({
      'edge-gateway.yaml': `${PLAIN_GATEWAY}integration: ${text}\n`,
    });
    expect(config?.settings.integration).toEqual(expected);
  });

  test.each([
    ['":8081"', '', 1],
    ['":8081"', '    render_key: secret\n', 0],
    ['127.0.0.1:8081', '', 0],
  ])('pull endpoints that would refuse everybody: %s %j', async (listen, key, count) => {
    const { warnings } = await loadFiles({
      'edge-gateway.yaml': `${PLAIN_GATEWAY}integration: { enabled: true, listen: ${listen} }\n`,
      'hosts.yaml': `${PLAIN_HOSTS}${key}`,
    });
    expect(warnings.map(({ message }) => message)).toHaveLength(count);
  });

  test.each([
    ['', 'edge-gateway'],
    [', protocol: prerender', 'prerender'],
    [', protocol: browserless', 'browserless'],
  ])('what render services speak: %j', async (text, protocol) => {
    const { settings } = await loadValid({
      'edge-gateway.yaml': `render: { engine: service, service: { urls: ["http://r:1"]${text} } }\n`,
    });
    expect(settings.render.service?.protocol).toBe(protocol);
  });

  test('address, password and database become one URL', async () => {
    const { settings } = await loadValid({
      'edge-gateway.yaml': `${PLAIN_GATEWAY}redis: { addr: "r:6379", password: "p@ß", db: 3 }\n`,
    });
    expect(settings.redis).toEqual({ kind: 'single', url: 'redis://:p%40%C3%9F@r:6379/3' });
  });

  test('paths are relative to the file', async () => {
    const { config } = await loadFiles({
      'c.pem': 'certificate',
      'k/k.pem': 'key',
      'edge-gateway.yaml': `${PLAIN_GATEWAY}storage: { base_path: d }\nserver: { tls: { enabled: true, listen: ":8443", cert_file: c.pem, key_file: ./k/../k/k.pem } }\n`,
    });
    const folder = config?.files[0]?.replace('/edge-gateway.yaml', '') ?? '';
    expect(config?.settings.storage.basePath).toBe(join(folder, 'd'));
    expect(config?.settings.server.tls).toEqual({
      listen: { host: '0.0.0.0', port: 8443 },
      certFile: join(folder, 'c.pem'),
      keyFile: join(folder, 'k/k.pem'),
    });
  });

  test('tls that is not enabled is not opened', async () => {
    const { settings } = await loadValid({
      'edge-gateway.yaml': `${PLAIN_GATEWAY}server: { tls: { listen: ":8080" } }\n`,
    });
    expect(settings.server.tls).toBeNull();
  });
});

describe('hosts and rules', () => {
  test('what is absent follows from the domain', async () => {
    const found = onlyHost(
      await loadValid({
        'hosts.yaml': 'hosts: [{ id: 1, domain: ["*.a.example", A.example.] }]\n',
      }),
    );
    expect(found).toMatchObject({
      id: 1,
      domain: '*.a.example',
      domains: ['*.a.example', 'a.example'],
      enabled: true,
      origins: [{ url: 'https://a.example' }],
      originHostHeader: null,
      scheme: 'https',
      renderKey: null,
      unmatched: { id: 0, name: 'bypass', action: 'bypass' },
      rules: [],
    });
    expect(found.dimensions.map(({ id, name }) => [id, name])).toEqual([
      [0, 'bypass'],
      [1, 'desktop'],
      [2, 'mobile'],
    ]);
  });

  test('a rule with several patterns becomes several with one id, in order of precedence', async () => {
    const found = onlyHost(
      await loadValid({
        'hosts.yaml': `${PLAIN_HOSTS}    url_rules:
      - { match: ["/ü/*", "~^/x", /exact], action: bypass }
      - { id: named, match: /a/b/*, priority: 5, methods: [get, HEAD], match_query: { q: ["*", "~^$"] } }
      - { match: "*.css", action: block }
      - { match: /p, action: status_410, status: { reason: gone } }
      - { match: /m, action: render, dimension: mobile }
`,
      }),
    );
    expect(found.rules.map(({ id, pattern, action }) => [id, pattern.source, action])).toEqual([
      ['named', '/a/b/*', null],
      ['rule_1', '/exact', 'bypass'],
      ['rule_4', '/p', 'status'],
      ['rule_5', '/m', 'render'],
      ['rule_1', '/%C3%BC/*', 'bypass'],
      ['rule_3', '*.css', 'status'],
      ['rule_1', '~^/x', 'bypass'],
    ]);
    const [named] = found.rules;
    expect([...(named?.methods ?? [])]).toEqual(['GET', 'HEAD']);
    expect(named?.query.map(({ name, values }) => [name, values.length])).toEqual([['q', 2]]);
    expect(found.rules.find(({ id }) => id === 'rule_4')?.status).toEqual({
      code: 410,
      reason: 'gone',
      headers: [],
    });
    expect(found.rules.find(({ id }) => id === 'rule_3')?.status?.code).toBe(403);
    expect(found.rules.find(({ id }) => id === 'rule_5')?.dimension?.id).toBe(2);
  });

  test('a rule without policy shares the host’s, and a host without policy the global one', async () => {
    const config = await loadValid({
      'hosts.yaml': `${PLAIN_HOSTS}    url_rules: [{ match: /a, action: bypass }]\n`,
    });
    const found = onlyHost(config);
    expect(found.policy).toBe(config.policies.global);
    expect(found.rules[0]?.policy).toBe(found.policy);
  });

  test('aliases for phones win over those for desktops', async () => {
    const config = await loadValid({
      'hosts.yaml': `${PLAIN_HOSTS}    dimensions:\n      d: { id: 1, match_ua: [$SearchBots] }\n    unmatched_dimension: d\n`,
    });
    expect(onlyHost(config).unmatched).toMatchObject({ name: 'd' });
    expect(onlyHost(config).dimensions.map(({ name }) => name)).toEqual(['bypass', 'd']);
  });
});

describe('plain blocks', () => {
  test('go through the same code', () => {
    const compiled = compileNormalization({
      global: { tracking_params: { params: ['a'] }, normalization: { plus: 'literal' } },
      host: { tracking_params: { presets: ['email'] } },
      rule: { tracking_params: { params_remove: ['mc_cid'], params_add: ['b'] } },
    });
    if (!compiled.ok) throw new Error(compiled.error.join('\n'));
    const { matcher } = compiled.value.tracking;
    expect(
      ['a', 'mc_cid', 'mc_eid', 'b', 'gclid'].map((name) => matcher.find(name)?.level),
    ).toEqual(['global', undefined, 'host', 'rule', undefined]);
    expect(compiled.value.normalization).toMatchObject({ plus: 'literal', sortQuery: true });
  });

  test('all mistakes of all levels', () => {
    const compiled = compileNormalization({
      global: { tracking_params: { params: ['~('] } },
      host: { normalization: { plus: 'x' } },
      rule: { tracking: {} },
    });
    expect(compiled.ok ? [] : compiled.error.map((message) => message.split(':')[0])).toEqual([
      'global',
      'host',
      'rule',
    ]);
    expect(compileNormalization({ global: 5 }).ok).toBe(false);
    expect(compileNormalization({}).ok).toBe(true);
  });
});

describe('nothing throws', () => {
  const settings = { numRuns: 150 };

  test('on arbitrary bytes', async () => {
    await withFolder({ 'edge-gateway.yaml': '', 'hosts.yaml': PLAIN_HOSTS }, async (folder) => {
      const file = join(folder, 'edge-gateway.yaml');
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
          await writeFile(file, bytes);
          const { config, diagnostics } = await loadConfig(file, {});
          expect(config === null).toBe(diagnostics.some(({ severity }) => severity === 'error'));
        }),
        settings,
      );
    });
  });

  test('on arbitrary values under known keys', async () => {
    await withFolder({ 'edge-gateway.yaml': '', 'hosts.yaml': '' }, async (folder) => {
      const file = join(folder, 'edge-gateway.yaml');
      const key = fc.constantFrom(
        ...['server', 'listen', 'timeout', 'render', 'cache', 'ttl', 'tracking_params', 'params'],
        ...['dimensions', 'match_ua', 'hosts', 'include', 'domain', 'origin', 'url_rules', 'match'],
        ...['id', 'action', 'status', 'match_query', 'normalization', 'locale_redirect', 'redis'],
      );
      const { tree } = fc.letrec((tie) => ({
        tree: fc.oneof(
          { maxDepth: 5 },
          fc.constantFrom<unknown>(
            '*',
            '~(',
            '/a',
            '30s',
            '${X}',
            '$A',
            '',
            -1,
            0,
            1e300,
            true,
            null,
          ),
          fc.array(tie('tree'), { maxLength: 3 }),
          fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
          fc.string(),
        ),
      }));
      await fc.assert(
        fc.asyncProperty(tree, tree, async (gateway, hosts) => {
          await writeFile(file, JSON.stringify(gateway));
          await writeFile(join(folder, 'hosts.yaml'), JSON.stringify({ hosts: [hosts] }));
          const { diagnostics } = await loadConfig(file, { X: 'x' });
          for (const { line, column } of diagnostics) expect(line > 0 && column > 0).toBe(true);
        }),
        settings,
      );
    });
  });
});

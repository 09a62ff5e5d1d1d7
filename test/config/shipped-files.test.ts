// Every file we ship loads without an error or a warning, and the generated schemas are the ones
// that check the files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/config/diagnostic.ts';
import { generateSchemas } from '../../src/config/generate-schemas.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { loadDefaults, readDefaults } from '../../src/config/load-defaults.ts';
import { runCommand } from '../cli/run-command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLES = readdirSync(join(ROOT, 'config/examples'));

test('there are examples', () => {
  expect(EXAMPLES.toSorted()).toEqual(['full', 'minimal', 'multi-host-redis']);
});

async function loadShipped(file: string, env: Readonly<Record<string, string>>) {
  const { config, diagnostics } = await loadConfig(join(ROOT, file), env);
  return { hostCount: config?.policies.hosts.length, told: diagnostics.map(formatDiagnostic) };
}

test('edge-gateway.yaml', async () => {
  expect(await loadShipped('edge-gateway.yaml', {})).toEqual({ hostCount: 1, told: [] });
});

describe.each(EXAMPLES)('the example %s', (name) => {
  const file = `config/examples/${name}/edge-gateway.yaml`;
  const text = readFileSync(join(ROOT, file), 'utf8');
  const command = `edge-gateway check -c ${file}`;
  const [, assigned = null] = new RegExp(`^# {3}(.*)${command}$`, 'm').exec(text) ?? [];
  const pairs = [...(assigned ?? '').matchAll(/(\w+)=(\S+)/g)].map(
    ([, variable = '', value = '']) => [variable, value] as const,
  );

  test('loads by the command at its head', async () => {
    expect(assigned).not.toBeNull();
    const { hostCount, told } = await loadShipped(file, Object.fromEntries(pairs));
    expect(told).toEqual([]);
    expect(hostCount).toBeGreaterThan(0);
  });

  test('needs every variable of it', async () => {
    for (const [left] of pairs) {
      const others = pairs.filter(([variable]) => variable !== left);
      const { told } = await loadShipped(file, Object.fromEntries(others));
      expect(told.join('\n')).toContain(left);
    }
  });
});

test('render services are asked where `edge-gateway render-service` listens', async () => {
  const { stdout } = await runCommand(['render-service', '--help']);
  const port = /--listen [^\n]*:(\d+)\)/.exec(stdout)?.[1];
  const files = [...EXAMPLES.map((name) => `config/examples/${name}/edge-gateway.yaml`)];
  const asked = [...files, 'README.md'].flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^ *urls: \[(.*)\]/gm)].flatMap(
      ([, urls = '']) => urls.split(', ').map((url) => [file, new URL(url).port]),
    ),
  );
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.filter(([, asking]) => asking !== port)).toEqual([]);
});

test('the root files serve the demo site', async () => {
  const { config, files } = await loadConfig(join(ROOT, 'edge-gateway.yaml'), {});
  expect(config?.settings).toMatchObject({
    server: { listen: { host: '0.0.0.0', port: 8080 } },
    admin: { listen: { host: '127.0.0.1', port: 9090 }, token: null },
    redis: null,
    storage: { basePath: join(ROOT, 'data') },
    render: { engine: 'chromium' },
  });
  expect(config?.policies.hosts).toMatchObject([
    {
      id: 1,
      domains: ['localhost', '127.0.0.1'],
      scheme: 'http',
      origins: [{ url: 'http://127.0.0.1:3000' }],
    },
  ]);
  expect(files).toEqual([join(ROOT, 'edge-gateway.yaml'), join(ROOT, 'hosts.yaml')]);
});

test('the full example names every key of the schemas', () => {
  const text = ['edge-gateway.yaml', 'hosts.yaml']
    .map((name) => readFileSync(join(ROOT, 'config/examples/full', name), 'utf8'))
    .join('\n');
  // Keys of the reference engine that do nothing here are not advertised.
  const silent = new Set([
    ...['eg_id', 'internal', 'auth_key', 'registry', 'selection_strategy', 'client_ip'],
    ...['event_logging', 'template', 'cache_sharding', 'replication_factor', 'file', 'path'],
    ...['distribution_strategy', 'push_on_render', 'replicate_on_pull', 'compression', 'metrics'],
    ...['safety_margin', 'ssrf_protection', 'console', 'format', 'rotation', 'max_size', 'max_age'],
    ...['max_backups', 'compress', 'namespace'],
  ]);
  const missing = [...schemaKeys()].filter(
    (key) => !silent.has(key) && !new RegExp(`(^|[\\s{,#-])${key}:`, 'm').test(text),
  );
  expect(missing).toEqual([]);
});

function schemaKeys(): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const text of generateSchemas().values()) {
    JSON.parse(text, (name: string, value: unknown) => {
      if (name === 'properties' && typeof value === 'object' && value !== null) {
        for (const key of Object.keys(value)) keys.add(key);
      }
      return value;
    });
  }
  return keys;
}

test.each([...generateSchemas()])('config/%s is up to date', (name, text) => {
  return expect(text).toMatchFileSnapshot(join(ROOT, 'config', name));
});

test('the generated schemas are JSON Schema that works by itself', () => {
  const text = readFileSync(join(ROOT, 'config/edge-gateway.schema.json'), 'utf8');
  const validator = Compile(JSON.parse(text));
  expect(validator.Check({ server: { listen: ':80', timeout: '5s' } })).toBe(true);
  expect(validator.Check({ server: { listn: ':80' } })).toBe(false);
});

test('the built-in list has exactly the 15 names', () => {
  const { global, hosts } = loadDefaults();
  expect(hosts).toEqual([]);
  expect(global.tracking.patterns.map(({ pattern }) => pattern.source).toSorted()).toEqual(
    (
      'utm_source utm_content utm_medium utm_campaign utm_term gclid fbclid msclkid _ga _gl ' +
      'mc_cid mc_eid _ke ref referrer'
    )
      .split(' ')
      .toSorted(),
  );
});

test('presets hold only low-risk names', () => {
  const { presets } = readDefaults().catalog;
  expect([...presets.keys()].toSorted()).toEqual([
    'analytics',
    'click_ids',
    'email',
    'social',
    'utm',
  ]);
  const names = new Set([...presets.values()].flat().map(({ source }) => source));
  // Known to break sites when stripped.
  for (const risky of ['_', 'id', 'q', 'ref', 'adid', 'affiliate', 'chl', '_kx', 'campid']) {
    expect(names).not.toContain(risky);
  }
  expect(names.size).toBeGreaterThan(100);
});

test('every alias of the reference engine is known', () => {
  const { aliases } = readDefaults().catalog;
  const names =
    'GooglebotSearchDesktop GooglebotSearchMobile GoogleBotAds GoogleBotAdsMobileWeb ' +
    'BingbotDesktop BingbotMobile ChatGPTUserBot OpenAISearchBot ChatGPTTrainingBot ' +
    'PerplexityBot PerplexityUserBot AnthropicBot AnthropicUserBot AnthropicSearchBot ' +
    'Amazonbot AmazonUser Messengers Socials SearchBots AIBots';
  for (const name of names.split(' ')) {
    expect([name, aliases.get(name)?.length ?? 0]).not.toEqual([name, 0]);
  }
});

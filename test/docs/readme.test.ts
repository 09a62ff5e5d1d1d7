// The README is run: its sessions print what it says, its configurations load without a warning,
// its commands, keys, metrics and files exist. Its examples of the library: test/library.
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METRICS } from '../../src/adapters/telemetry/metrics-table.ts';
import { STOP_DEADLINE_MS } from '../../src/compose/stop.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { listCommands, runCommand, withFiles } from '../cli/run-command.ts';
import { isThere, listFiles, readFile } from '../tidy/files.ts';
import { findBlocks, lineExpression, readSession } from './markdown.ts';
import { openTourShell, type TourShell } from './tour-shell.ts';

const README = readFile('README.md');
const COMMANDS = await listCommands();
const DOCUMENTS = listFiles().filter((file) => file.endsWith('.md'));

/** YAML blocks by the file their first line names. */
const YAML_BLOCKS = findBlocks(README, 'yaml').map((block) => {
  const [, name = ''] = /^# ((?:edge-gateway|hosts|compose)\.yaml)\n/.exec(block.text) ?? [];
  return { ...block, name };
});

describe('sessions', () => {
  let shell: TourShell;
  beforeAll(async () => {
    shell = await openTourShell();
    const writing = findBlocks(README, 'sh').filter(({ text }) => text.includes("<<'END'"));
    for (const { text } of writing) expect(await shell.run(text)).toEqual(['']);
  });
  afterAll(() => shell.close());

  const steps = findBlocks(README, 'console').flatMap(readSession);

  test('there are some', () => expect(steps.length).toBeGreaterThan(8));

  // In order: each one sees what the ones before it left.
  test.each(steps.map((step) => [step.command, step] as const))(
    '%s',
    async (_name, { command, output }) => {
      const printed = await shell.run(command);
      const matches =
        printed.length === output.length &&
        output.every((line, index) => lineExpression(line).test(printed[index] ?? ''));
      // Shown as text when it differs, so that the README can be put right from the failure.
      expect(matches ? output : printed).toEqual(output);
    },
    30_000,
  );
});

describe('configurations', () => {
  test('each names its file', () => {
    expect(YAML_BLOCKS.length).toBeGreaterThan(8);
    expect(YAML_BLOCKS.filter(({ name }) => name === '').map(({ line }) => line)).toEqual([]);
  });

  const loadable = YAML_BLOCKS.filter(({ name }) => name !== 'compose.yaml');
  test.each(loadable.map((block) => [block.line, block] as const))(
    'line %i loads without a warning',
    async (_line, { name, text }) => {
      const engine = 'render: { engine: origin }\n';
      const hosts = 'hosts:\n  - { id: 1, domain: example.com }\n';
      const isGateway = name === 'edge-gateway.yaml';
      const gateway = isGateway ? text + (/^render:/m.test(text) ? '' : engine) : engine;
      const files = {
        'edge-gateway.yaml': gateway,
        'hosts.yaml': isGateway ? hosts : text,
        'certs/site.pem': '',
        'certs/site.key': '',
      };
      await withFiles(files, async (folder) => {
        const file = join(folder, 'edge-gateway.yaml');
        const { config, diagnostics } = await loadConfig(file, variablesIn(text));
        expect(diagnostics).toEqual([]);
        expect(config?.policies.hosts).toHaveLength(1);
      });
    },
  );

  test('nowhere is a secret given that all the world knows', () => {
    const files = listFiles().filter((file) => /^(README\.md|config\/examples\/.*)$/.test(file));
    const secrets = files.flatMap((file) =>
      [...readFile(file).matchAll(/(?:token|key|password): *"?(\$\{[^}]*\})/g)].map(
        ([, value = '']) => value,
      ),
    );
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.filter((value) => value.includes(':-'))).toEqual([]);
  });

  test('by Docker requests have the time that SIGTERM gives them', () => {
    const runs = findBlocks(README, 'sh')
      .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'))
      .filter((line) => line.startsWith('docker run'));
    expect(runs).toHaveLength(2);
    const compose = YAML_BLOCKS.find(({ name }) => name === 'compose.yaml')?.text ?? '';
    const given = [...runs, compose].map((text) =>
      Number(/(?:--stop-timeout |stop_grace_period: )(\d+)/.exec(text)?.[1]),
    );
    expect(given.map((seconds) => seconds * 1_000 > STOP_DEADLINE_MS)).toEqual([true, true, true]);
  });

  test('the compose file is YAML, its volumes are those of the image', () => {
    const text = YAML_BLOCKS.find(({ name }) => name === 'compose.yaml')?.text ?? '';
    const { services } = load(text) as { services: Record<string, { volumes: string[] }> };
    const folders = Object.values(services).flatMap(({ volumes }) =>
      volumes.map((volume) => volume.split(':')[1] ?? ''),
    );
    const image = readFile('Dockerfile');
    expect(folders).toHaveLength(2);
    expect(folders.filter((folder) => !image.includes(`"${folder}"`))).toEqual([]);
  });
});

describe('what the text names exists', () => {
  const commandLines = DOCUMENTS.flatMap((file) =>
    [...readFile(file).matchAll(/(?:^|[\s`|$(])edge-gateway ([a-z-]+)((?: +[^`|\n]*)?)/gm)].map(
      ([, command = '', rest = '']) => [file, command, rest] as const,
    ),
  ).filter(([, command]) => COMMANDS.includes(command));

  test('commands and their options', async () => {
    expect(commandLines.length).toBeGreaterThan(5);
    for (const [file, command, rest] of commandLines) {
      const { stdout } = await runCommand([command, '--help']);
      const options = [...rest.matchAll(/(?<=^| )--[a-z][a-z-]*/g)].map(([option]) => option);
      expect(
        options.filter((option) => !stdout.includes(option)),
        `${file}: ${command}`,
      ).toEqual([]);
    }
  });

  test('npm scripts', () => {
    const { scripts } = JSON.parse(readFile('package.json')) as { scripts: Record<string, string> };
    const named = DOCUMENTS.flatMap((file) => [
      ...readFile(file).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g),
    ]).map(([, script, short]) => script ?? short ?? '');
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('metrics', () => {
    const known = Object.values(METRICS).map(({ name }) => name);
    const named = [...README.matchAll(/`(edge_gateway_\w+)`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !known.some((one) => one === name))).toEqual([]);
  });

  test.each(DOCUMENTS)('files in %s', (file) => {
    const named = [...readFile(file).matchAll(/`((?:src|config|test)\/[\w./-]+)`/g)];
    expect(named.map(([, path]) => path ?? '').filter((path) => !isThere(path))).toEqual([]);
  });

  test('keys of the table, with their defaults', () => {
    const defaults = load(readFile('config/defaults/settings.yaml'));
    const rows = [...README.matchAll(/^\| `([a-z_.]+)` \| `([^`]+)` \|/gm)];
    expect(rows.length).toBeGreaterThan(8);
    for (const [, key = '', shown] of rows) {
      const value = key.split('.').reduce<unknown>(childOf, defaults);
      const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
      expect([key, text]).toEqual([key, shown]);
    }
  });

  test('presets and the built-in list', () => {
    const { presets } = load(readFile('config/defaults/presets.yaml')) as { presets: object };
    const { tracking_params } = load(readFile('config/defaults/tracking.yaml')) as {
      tracking_params: { params: readonly string[] };
    };
    const section = README.slice(README.indexOf('### Tracking parameters'));
    expect(tracking_params.params.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
    expect(tracking_params.params).toHaveLength(15);
    const used = /presets: \[([^\]]+)\]/.exec(section)?.[1]?.split(', ') ?? [];
    expect(used.filter((name) => !(name in presets))).toEqual([]);
  });
});

/** Those that have no default, for which README has no value either. */
function variablesIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'a-secret']),
  );
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

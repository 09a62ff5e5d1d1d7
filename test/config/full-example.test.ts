// The full example shows defaults and says so where it doesn't. Each `Default:` is held against what
// the gateway does without the key.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { createCopyReader } from '../../src/config/config-reader.ts';
import { createProblems } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { readDefaults } from '../../src/config/load-defaults.ts';
import { type ConfigDocument, parseYaml, placeOf } from '../../src/config/parse-yaml.ts';
import { isThere, readFile } from '../tidy/files.ts';

const FOLDER = fileURLToPath(new URL('../../config/examples/full/', import.meta.url));
const GATEWAY = join(FOLDER, 'edge-gateway.yaml');
const HOSTS = join(FOLDER, 'hosts.yaml');
const NAMES = ['edge-gateway.yaml', 'hosts.yaml'] as const;

type Path = readonly string[];
type Name = (typeof NAMES)[number];

interface Note {
  readonly path: Path;
  readonly value: unknown;
  /** What the comment above the key says; null: nothing about a default. */
  readonly said: { readonly default: string } | 'none' | null;
}

const texts: Readonly<Record<Name, string>> = {
  'edge-gateway.yaml': readFile('config/examples/full/edge-gateway.yaml'),
  'hosts.yaml': readFile('config/examples/full/hosts.yaml'),
};
const documents: Readonly<Record<Name, ConfigDocument>> = {
  'edge-gateway.yaml': parseYaml(texts['edge-gateway.yaml'], GATEWAY, createProblems()),
  'hosts.yaml': parseYaml(texts['hosts.yaml'], HOSTS, createProblems()),
};

const notes = Object.fromEntries(NAMES.map((name) => [name, readNotes(name)])) as Readonly<
  Record<Name, readonly Note[]>
>;

/** Every key, before the keys below it. */
function readNotes(name: Name): readonly Note[] {
  const document = documents[name];
  const lines = texts[name].split('\n');
  const lineOf = (path: Path): number => placeOf(document, `/${path.join('/')}`, 'key').line;
  const notesBelow = (value: unknown, path: Path): readonly Note[] => {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, child]) => {
      const own = [...path, key];
      // A comment speaks of the first key on the line below it.
      const isFirst = path.length === 0 || lineOf(path) !== lineOf(own);
      const said = isFirst ? readSaid(commentAbove(lines, lineOf(own))) : null;
      const note = { path: own, value: child, said };
      return [...(Array.isArray(value) ? [] : [note]), ...notesBelow(child, own)];
    });
  };
  return notesBelow(document.value, []);
}

function commentAbove(lines: readonly string[], line: number): string {
  const isComment = (index: number): boolean => /^\s*(?:- )?#/.test(lines[index] ?? '');
  let first = line - 1;
  while (isComment(first - 1)) first -= 1;
  return lines
    .slice(first, line - 1)
    .map((text) => text.replace(/^\s*(?:- )?#/, ''))
    .join('\n');
}

function readSaid(comment: string): Note['said'] {
  const [, said] = /\bDefault: (.+)$/m.exec(comment) ?? [];
  if (said !== undefined) return { default: said };
  return /\bNo default\b/.test(comment) ? 'none' : null;
}

/** What holds for `path` by config/defaults. */
function builtIn(path: Path): unknown {
  for (const root of readDefaults().roots) {
    const found = path.reduce(childOf, root.value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function isInside(path: Path, outer: Path): boolean {
  return path.length > outer.length && outer.every((key, index) => path[index] === key);
}

/** What the gateway is told by the example with one key changed; undefined takes it out. */
async function compileWith(name: Name, path: Path, value: unknown): Promise<string> {
  const changed = structuredClone(documents[name].value);
  const parent = path.slice(0, -1).reduce(childOf, changed) as Record<string, unknown>;
  const key = path.at(-1) ?? '';
  if (value === undefined) delete parent[key];
  else parent[key] = value;
  const asText = (file: Name): string => (file === name ? JSON.stringify(changed) : texts[file]);
  const reader = createCopyReader({
    texts: { [GATEWAY]: asText('edge-gateway.yaml'), [HOSTS]: asText('hosts.yaml') },
    hostFiles: [HOSTS],
  });
  const { config } = await loadConfig(GATEWAY, {}, reader);
  return config === null ? 'does not load' : JSON.stringify(config, showAll);
}

/** Of maps, sets and expressions JSON says nothing by itself. */
function showAll(_key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  return value instanceof RegExp ? String(value) : value;
}

test('the example is read', () => {
  expect(dirname(GATEWAY)).toBe(dirname(HOSTS));
  expect(notes['edge-gateway.yaml'].length).toBeGreaterThan(100);
  expect(notes['hosts.yaml'].length).toBeGreaterThan(40);
});

test('the same example is the same configuration, another one is not', async () => {
  const path = ['render', 'cache', 'ttl'];
  const [one, same, other] = await Promise.all(
    ['1h', '60m', '2h'].map((ttl) => compileWith('edge-gateway.yaml', path, ttl)),
  );
  expect([one === same, one === other]).toEqual([true, false]);
});

describe('edge-gateway.yaml', () => {
  const all = notes['edge-gateway.yaml'];
  const told = all.filter(({ said }) => said !== null);
  const silent = all.filter(({ path, value, said }) => {
    const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
    const isCovered = told.some((note) => isInside(path, note.path));
    const hasKeys = isBranch && Object.keys(value).length > 0;
    return said === null && !hasKeys && !isCovered;
  });

  test('what no comment speaks of has its default', () => {
    expect(silent.length).toBeGreaterThan(50);
    const other = silent.filter(({ path, value }) => {
      return JSON.stringify(builtIn(path)) !== JSON.stringify(value);
    });
    expect(other.map(({ path, value }) => [path.join('.'), value])).toEqual([]);
  });

  test.each(told.filter(({ said }) => said === 'none').map(({ path }) => [path.join('.'), path]))(
    '%s has none',
    (_name, path) => expect(builtIn(path as Path)).toBeUndefined(),
  );
});

const stated = NAMES.flatMap((name) =>
  notes[name].flatMap(({ path, said }) =>
    said === null || said === 'none' ? [] : [{ name, path, text: said.default }],
  ),
);

describe('what a comment calls the default', () => {
  test('is said of some', () => expect(stated.length).toBeGreaterThan(15));

  test.each(stated.map((one) => [`${one.name} ${one.path.join('.')}: ${one.text}`, one] as const))(
    '%s',
    async (_name, { name, path, text }) => {
      const isFile = isThere(text);
      const value = isFile ? childOf(load(readFile(text)), path.at(-1) ?? '') : load(text);
      const without = await compileWith(name, path, undefined);
      expect(without).not.toBe('does not load');
      // Not as texts, which are long.
      expect((await compileWith(name, path, value)) === without).toBe(true);
    },
  );
});

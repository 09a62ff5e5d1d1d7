// Proves the layer rules: they see every module of src/ (a cruise of nothing would pass too), and
// each kind of rule refuses what it should.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFiles, ROOT } from './files.ts';

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

test('the rules see every module of src', () => {
  const seen = new Set(cruise(ROOT).modules.map(({ source }) => source));
  const present = listFiles().filter((file) => file.startsWith('src/') && file.endsWith('.ts'));
  expect(present.length).toBeGreaterThan(20);
  expect(present.filter((file) => !seen.has(file))).toEqual([]);
});

// Importing file, what it imports, the rule that refuses it.
const REFUSED = [
  ['src/core/1.ts', '../config/b.ts', 'layer core'],
  ['src/core/2.ts', '../pipeline/ports.ts', 'layer core'],
  ['src/core/3.ts', 'node:fs', 'core is pure'],
  ['src/core/4.ts', '../../test/b.ts', 'src never imports test'],
  ['src/config/1.ts', '../pipeline/b.ts', 'layer config'],
  ['src/pipeline/1.ts', '../adapters/files/b.ts', 'layer pipeline'],
  ['src/adapters/files/1.ts', '../redis/b.ts', 'layer adapters'],
  ['src/adapters/files/2.ts', '../../pipeline/b.ts', 'layer adapters'],
  ['src/server/1.ts', '../adapters/files/b.ts', 'layer server'],
  ['src/server/4.ts', '../compose/b.ts', 'layer server'],
  ['src/compose/1.ts', '../cli/b.ts', 'layer compose'],
  ['src/cli/1.ts', '../server/b.ts', 'layer cli'],
  ['src/server/2.ts', 'undici', 'owner of undici'],
  ['src/pipeline/2.ts', 'unknown-library', 'every library has an owner'],
  ['src/server/3.ts', './missing.ts', 'every import resolves'],
  ['src/server/round.ts', './round.ts', 'no cycles'],
] as const;

const ALLOWED = [
  ['src/core/5.ts', './url/b.ts'],
  ['src/config/2.ts', '../core/b.ts'],
  ['src/config/3.ts', 'node:fs'],
  ['src/adapters/files/3.ts', './b.ts'],
  ['src/adapters/files/4.ts', '../../pipeline/ports.ts'],
  ['src/adapters/origin/1.ts', 'undici'],
  ['src/cli/2.ts', '../compose/b.ts'],
  ['src/compose/2.ts', '../adapters/files/b.ts'],
  ['src/compose/3.ts', '../server/b.ts'],
] as const;

describe('the rules judge', () => {
  const project = mkdtempSync(join(tmpdir(), 'edge-gateway-layers-'));
  let violations: Cruise['summary']['violations'];

  beforeAll(() => {
    cpSync(join(ROOT, 'tsconfig.json'), join(project, 'tsconfig.json'));
    write(project, 'package.json', '{"dependencies":{"undici":"1","unknown-library":"1"}}');
    for (const library of ['undici', 'unknown-library']) {
      write(project, `node_modules/${library}/package.json`, `{"name":"${library}"}`);
      write(project, `node_modules/${library}/index.js`, '');
    }
    for (const [file, imported] of [...REFUSED, ...ALLOWED]) {
      write(project, file, `import '${imported}';\n`);
      const isOurs = imported.startsWith('.') && !imported.includes('missing');
      if (isOurs) write(project, join(dirname(file), imported), '');
    }
    ({ violations } = cruise(project).summary);
  });

  afterAll(() => rmSync(project, { recursive: true }));

  test.each(REFUSED)('%s importing %s: %s', (file, _imported, rule) => {
    expect(rulesAgainst(file)).toEqual([rule]);
  });

  test.each(ALLOWED)('%s importing %s: nothing against it', (file) => {
    expect(rulesAgainst(file)).toEqual([]);
  });

  function rulesAgainst(file: string): readonly string[] {
    return violations.filter(({ from }) => from === file).map(({ rule }) => rule.name);
  }
});

function cruise(project: string): Cruise {
  const program = join(ROOT, 'node_modules/.bin/depcruise');
  const config = join(ROOT, 'test/tidy/layers.config.mjs');
  const args = ['--config', config, '--output-type', 'json', 'src'];
  const result = spawnSync(program, args, { cwd: project, encoding: 'utf8', maxBuffer: 1 << 28 });
  return JSON.parse(result.stdout) as Cruise;
}

/** Appends: a file of one case may be what another one imports. */
function write(project: string, file: string, text: string): void {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  appendFileSync(join(project, file), text);
}

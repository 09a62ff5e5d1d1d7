// Layer 0 from the package's own config/defaults, read once a process. A fault in it is a fault of
// the package, not of the user, and throws.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PolicySet } from '../core/policy/policy.ts';
import { compileDefaultPolicies, compileDefaults, type Defaults } from './compile-policy.ts';
import { rootOf } from './config-node.ts';
import { createProblems, formatDiagnostic } from './diagnostic.ts';
import { parseYaml } from './parse-yaml.ts';
import { defaultsFileSchema } from './schema/files.ts';
import { compileShape } from './validate-shape.ts';

/** The same from src/config and from dist/config. */
const FOLDER = new URL('../../config/defaults/', import.meta.url);

const FILES = [
  'settings.yaml',
  'tracking.yaml',
  'presets.yaml',
  'bot-aliases.yaml',
  'dimensions.yaml',
] as const;

let known: Defaults | undefined;

/** Reads layer 0. */
export function readDefaults(): Defaults {
  known ??= compile();
  return known;
}

/** The policies of a gateway without any configuration file. */
export function loadDefaults(): PolicySet {
  return compileDefaultPolicies(readDefaults());
}

function compile(): Defaults {
  const problems = createProblems();
  const checkShape = compileShape(defaultsFileSchema, {});
  const roots = FILES.map((name) => {
    const text = readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8');
    const document = parseYaml(text, `config/defaults/${name}`, problems);
    checkShape(document);
    return rootOf(document);
  });
  const defaults = compileDefaults(roots);
  const [first] = problems.list();
  if (first !== undefined) throw new Error(formatDiagnostic(first));
  return defaults;
}

// The admin section alone, for commands that ask the running gateway: they have to work while
// something else is wrong in the files, as in one host's of three hundred.
import { isRecord } from '../core/records.ts';
import { readAdmin } from './compile-settings.ts';
import { rootOf } from './config-node.ts';
import { createProblems } from './diagnostic.ts';
import { type Environment, interpolateEnv } from './interpolate-env.ts';
import { readDefaults } from './load-defaults.ts';
import { parseYaml } from './parse-yaml.ts';
import { readConfigText } from './read-files.ts';
import { section } from './schema/common.ts';
import { adminSchema } from './schema/server.ts';
import type { AdminSettings } from './settings.ts';
import { compileShape } from './validate-shape.ts';

const checkShape = compileShape(section({ admin: adminSchema }, 'edge-gateway.yaml'), {});

/**
 * Reads where the gateway of a configuration is asked.
 *
 * @param file path of edge-gateway.yaml; no other file is read
 * @returns null: the section itself has an error, or the file can't be read; `loadConfig` says why
 */
export async function loadAdmin(file: string, env: Environment): Promise<AdminSettings | null> {
  const text = await readConfigText(file);
  if (!text.ok) return null;
  const problems = createProblems();
  const parsed = parseYaml(text.value, file, problems);
  if (!isRecord(parsed.value)) return null;
  // Nothing else is looked at: a variable that is missing elsewhere is no reason to say no.
  const value = Object.hasOwn(parsed.value, 'admin') ? { admin: parsed.value['admin'] } : {};
  const document = interpolateEnv({ ...parsed, value }, env);
  checkShape(document);
  const settings = readAdmin([rootOf(document), ...readDefaults().roots]);
  return problems.hasErrors() ? null : settings;
}

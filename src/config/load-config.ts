// Files → one Config, or everything that is wrong with them. The steps are always the same: read,
// parse, fill in the environment, check the shape, check the meaning, compile. A reload calls this
// again and swaps the result in one assignment.
import { dirname, resolve } from 'node:path';
import { checkPullKeys } from './check-pull-keys.ts';
import { compilePolicies } from './compile-policy.ts';
import { compileSettings } from './compile-settings.ts';
import { type ConfigNode, descend, reportError, rootOf } from './config-node.ts';
import { type ConfigReader, diskReader } from './config-reader.ts';
import { createProblems, type Diagnostic, type Problems, type SourcePlace } from './diagnostic.ts';
import { warnInactive } from './inactive-keys.ts';
import { type Environment, interpolateEnv } from './interpolate-env.ts';
import { pick } from './levels.ts';
import { readDefaults } from './load-defaults.ts';
import { type ConfigDocument, parseYaml, placeOf } from './parse-yaml.ts';
import { checkReadable } from './read-files.ts';
import { readText } from './read-values.ts';
import { createRest } from './rest.ts';
import { gatewayFileSchema, hostsFileSchema } from './schema/files.ts';
import type { Config, Settings } from './settings.ts';
import { compileShape, type ShapeCheck } from './validate-shape.ts';

export interface LoadResult {
  /** null when there is any error. */
  readonly config: Config | null;
  /** In order of file and line. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute paths of every file that was read or looked for, also after an error. */
  readonly files: readonly string[];
}

const checkGatewayShape = compileShape(gatewayFileSchema, { 'the hosts file': hostsFileSchema });
const checkHostsShape = compileShape(hostsFileSchema, { 'edge-gateway.yaml': gatewayFileSchema });

/**
 * Loads a configuration. Never throws for anything a file may contain.
 *
 * @param file path of edge-gateway.yaml
 * @param env what `${NAME}` is taken from
 * @param reader where the texts come from, unless it is the disk
 */
export async function loadConfig(
  file: string,
  env: Environment,
  reader: ConfigReader = diskReader,
): Promise<LoadResult> {
  const defaults = readDefaults();
  const problems = createProblems();
  const start: SourcePlace = { file, line: 1, column: 1 };
  const gateway = await readDocument(
    { path: file, named: start, problems, env, reader },
    checkGatewayShape,
  );
  if (gateway === null) {
    return { config: null, diagnostics: problems.list(), files: [resolve(file)] };
  }

  const roots = [gateway, ...defaults.roots];
  const paths = await findIncluded(gateway, roots, problems, reader);
  const hostFiles: ConfigNode[] = [];
  const rest = createRest();
  for (const path of paths) {
    await rest();
    const named = placeOf(gateway.document, '/hosts/include', 'value');
    const root = await readDocument({ path, named, problems, env, reader }, checkHostsShape);
    if (root !== null) hostFiles.push(root);
  }

  const policies = await compilePolicies(defaults, gateway, hostFiles, rest);
  const settings = compileSettings(roots, file);
  await checkCertificates(gateway, settings);
  checkPullKeys(gateway, settings, policies);
  warnInactive(gateway, hostFiles);
  const files = [file, ...paths].map((path) => resolve(path));
  const config = problems.hasErrors() ? null : { settings, policies, files };
  return { config, diagnostics: problems.list(), files };
}

interface Source {
  readonly path: string;
  /** The place that named the file, to blame when it can't be read. */
  readonly named: SourcePlace;
  readonly problems: Problems;
  readonly env: Environment;
  readonly reader: ConfigReader;
}

async function readDocument(source: Source, checkShape: ShapeCheck): Promise<ConfigNode | null> {
  const { path, named, problems, env, reader } = source;
  const text = await reader.readText(path);
  if (!text.ok) {
    const { message, hint } = text.error;
    problems.add({ ...named, severity: 'error', message: `${path}: ${message}`, hint });
    return null;
  }
  const parsed = parseYaml(text.value, path, problems);
  if (parsed.value === undefined) return null;
  const document: ConfigDocument = interpolateEnv(parsed, env);
  checkShape(document);
  return rootOf(document);
}

/** The server reads them when it listens; a path that leads nowhere is known now. */
async function checkCertificates(gateway: ConfigNode, { server }: Settings): Promise<void> {
  if (server.tls === null) return;
  const files = [
    ['server.tls.cert_file', server.tls.certFile],
    ['server.tls.key_file', server.tls.keyFile],
  ] as const;
  for (const [path, file] of files) {
    const fault = await checkReadable(file);
    if (fault !== null) reportError(descend(gateway, path) ?? gateway, `${path}: ${fault.message}`);
  }
}

async function findIncluded(
  gateway: ConfigNode,
  roots: readonly ConfigNode[],
  problems: Problems,
  reader: ConfigReader,
): Promise<readonly string[]> {
  const { document } = gateway;
  const include = pick(roots, 'hosts.include', readText);
  const found = await reader.findHostFiles(dirname(document.file), include);
  if (found.ok) return found.value;
  const written = descend(gateway, 'hosts.include') !== undefined;
  problems.add({
    ...placeOf(document, '/hosts/include', 'value'),
    severity: 'error',
    message: `hosts.include: ${found.error.message}`,
    hint: written ? found.error.hint : 'the hosts are read from hosts.yaml beside this file',
  });
  return [];
}

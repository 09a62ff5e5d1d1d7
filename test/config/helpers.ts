// Configurations as text, loaded from real files in a folder that is removed afterwards.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Diagnostic } from '../../src/config/diagnostic.ts';
import type { Environment } from '../../src/config/interpolate-env.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/settings.ts';

/** File name → content. */
export type ConfigFiles = Readonly<Record<string, string | Uint8Array>>;

/** A gateway file that draws no warning, for tests that are about hosts. */
export const PLAIN_GATEWAY = 'render: { engine: origin }\n';
export const PLAIN_HOSTS = 'hosts:\n  - id: 1\n    domain: example.com\n';

/** Runs with the files in a folder of their own. */
export async function withFolder<T>(
  files: ConfigFiles,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-config-'));
  try {
    await writeFiles(folder, files);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFiles(folder: string, files: ConfigFiles): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

export interface Loaded {
  readonly config: Config | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly errors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** Loads files; paths in the diagnostics are relative to their folder. */
export async function loadFiles(files: ConfigFiles, env: Environment = {}): Promise<Loaded> {
  const complete = {
    'edge-gateway.yaml': PLAIN_GATEWAY,
    'hosts.yaml': PLAIN_HOSTS,
    ...files,
  };
  return withFolder(complete, async (folder) => {
    const { config, diagnostics } = await loadConfig(join(folder, 'edge-gateway.yaml'), env);
    const relative = diagnostics.map((one) => ({
      ...one,
      file: one.file.replace(`${folder}/`, ''),
      message: one.message.replaceAll(`${folder}/`, ''),
    }));
    return {
      config,
      diagnostics: relative,
      errors: relative.filter(({ severity }) => severity === 'error'),
      warnings: relative.filter(({ severity }) => severity === 'warning'),
    };
  });
}

/** Loads what must be free of errors. */
export async function loadValid(files: ConfigFiles, env: Environment = {}): Promise<Config> {
  const { config, errors } = await loadFiles(files, env);
  if (config !== null) return config;
  throw new Error(errors.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n'));
}

/** The only host of a configuration. */
export function onlyHost(config: Config): Config['policies']['hosts'][number] {
  const [host] = config.policies.hosts;
  if (host === undefined) throw new Error('no host');
  return host;
}

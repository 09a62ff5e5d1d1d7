// Where the texts of a configuration come from: the disk, or a copy of what was read there, so that
// several processes have the very same one whatever happens to the files meanwhile.
import { err, ok, type Result } from '../core/result.ts';
import type { Fault } from './config-node.ts';
import { findHostFiles, readConfigText } from './read-files.ts';

export interface ConfigReader {
  readonly readText: (path: string) => Promise<Result<string, Fault>>;
  /** As `findHostFiles`. */
  readonly findHostFiles: (
    folder: string,
    include: string,
  ) => Promise<Result<readonly string[], Fault>>;
}

/** All that was read of a configuration. */
export interface ConfigCopy {
  /** Path → text, of a configuration without errors. */
  readonly texts: Readonly<Record<string, string>>;
  readonly hostFiles: readonly string[];
}

export const diskReader: ConfigReader = { readText: readConfigText, findHostFiles };

/** Reads the disk, and keeps a copy of what came. */
export function createCopyingReader(): ConfigReader & { readonly copy: () => ConfigCopy } {
  const texts = new Map<string, string>();
  let hostFiles: readonly string[] = [];
  return {
    readText: async (path) => {
      const text = await readConfigText(path);
      if (text.ok) texts.set(path, text.value);
      return text;
    },
    findHostFiles: async (folder, include) => {
      const found = await findHostFiles(folder, include);
      if (found.ok) hostFiles = found.value;
      return found;
    },
    copy: () => ({ texts: Object.fromEntries(texts), hostFiles }),
  };
}

/** Reads a copy. */
export function createCopyReader({ texts, hostFiles }: ConfigCopy): ConfigReader {
  const files = new Map(Object.entries(texts));
  return {
    readText: async (path) => {
      const value = files.get(path);
      return value === undefined ? err({ message: 'no such file', hint: null }) : ok(value);
    },
    findHostFiles: async () => ok(hostFiles),
  };
}

// What a configuration is read from, besides the built-in files: text of a file, and which files
// `hosts.include` means. What the disk refuses becomes a sentence, never an exception.
import { constants, type Stats } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import picomatch from 'picomatch';
import { err, ok, type Result } from '../core/result.ts';
import { CAPS } from './caps.ts';
import type { Fault } from './config-node.ts';

const YAML_NAME = /\.ya?ml$/;
const STARS_MAX = 3;

class TooManyNames extends Error {
  readonly code = 'too many files below the folder';
}

/** Reads one file as UTF-8. */
export async function readConfigText(path: string): Promise<Result<string, Fault>> {
  try {
    const info = await stat(path);
    // Devices and pipes never end.
    if (!info.isFile()) return err({ message: nameKind(info), hint: null });
    if (info.size > CAPS.fileBytesMax) {
      const hint = 'split the hosts over several files, see hosts.include';
      return err({ message: `the file is larger than ${CAPS.fileBytesMax} bytes`, hint });
    }
    const bytes = await readFile(path);
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    return err({ message: describeFailure(cause), hint: null });
  }
}

/** Whether a file that is read later can be read; the fault when it can't. */
export async function checkReadable(path: string): Promise<Fault | null> {
  try {
    await access(path, constants.R_OK);
    const info = await stat(path);
    return info.isFile() ? null : { message: nameKind(info), hint: null };
  } catch (cause) {
    return { message: describeFailure(cause), hint: null };
  }
}

/**
 * Finds the files of `hosts.include`: a file, a folder (its *.yaml and *.yml) or a glob.
 *
 * @param folder the folder of the configuration file
 * @returns paths that begin with `folder`, in name order
 */
export async function findHostFiles(
  folder: string,
  include: string,
): Promise<Result<readonly string[], Fault>> {
  if (include.includes('\\')) {
    return err({ message: 'a path with a backslash', hint: 'write "/" between folders' });
  }
  const fault = checkGlob(include);
  if (fault !== null) return err(fault);
  try {
    const isGlob = /[*?[{]/.test(include);
    const found = isGlob ? await expandGlob(folder, include) : await expandPath(folder, include);
    if (found.length === 0) return err({ message: `no file matches "${include}"`, hint: null });
    if (found.length > CAPS.filesMax) {
      return err({ message: `more than ${CAPS.filesMax} files match "${include}"`, hint: null });
    }
    return ok(found.toSorted());
  } catch (cause) {
    return err({ message: `"${include}": ${describeFailure(cause)}`, hint: null });
  }
}

async function expandPath(folder: string, include: string): Promise<readonly string[]> {
  const path = resolveBelow(folder, include);
  const info = await stat(path);
  if (!info.isDirectory()) return [path];
  const names = await readdir(path);
  return names.filter((name) => YAML_NAME.test(name)).map((name) => join(path, name));
}

async function expandGlob(folder: string, include: string): Promise<readonly string[]> {
  const { base, glob } = picomatch.scan(include);
  const isMatch = picomatch(glob, { noextglob: true });
  const path = resolveBelow(folder, base);
  const names = await walk(path, glob.includes('/') ? CAPS.walkDepthMax : 1);
  return names.filter((name) => isMatch(name)).map((name) => join(path, name));
}

/** A matcher that tries every star against every place takes minutes for a handful of them. */
function checkGlob(include: string): Fault | null {
  const segments = include.split('/');
  const hint = `write at most ${STARS_MAX} stars between two "/", and ${STARS_MAX} "**"`;
  const stars = segments.map((segment) => segment.split('*').length - 1);
  const isTooWild =
    segments.some((segment, at) => segment !== '**' && (stars[at] ?? 0) > STARS_MAX) ||
    segments.filter((segment) => segment === '**').length > STARS_MAX;
  return isTooWild ? { message: `too many "*" in "${include}"`, hint } : null;
}

/** Names below a folder. Links to folders are not followed: they may lead in circles. */
async function walk(root: string, depthMax: number): Promise<readonly string[]> {
  const names: string[] = [];
  let folders = [''];
  for (let depth = 1; depth <= depthMax && folders.length > 0; depth += 1) {
    const below: string[] = [];
    for (const folder of folders) {
      for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
        const name = join(folder, entry.name);
        (entry.isDirectory() ? below : names).push(name);
        if (names.length + below.length > CAPS.walkNamesMax) throw new TooManyNames();
      }
    }
    folders = below;
  }
  return names;
}

/** As the user would type it, so that messages name files in the user's own way. */
function resolveBelow(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

function nameKind(info: Stats): string {
  return info.isDirectory() ? 'a folder, not a file' : 'not a regular file';
}

function describeFailure(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'no such file';
    case 'EACCES':
    case 'EPERM':
      return 'no permission to read it';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'the file is not UTF-8 text';
    default:
      return typeof code === 'string' ? `not readable (${code})` : 'not readable';
  }
}

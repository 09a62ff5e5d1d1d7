// The project's own files, as git sees them: tracked, or new and not ignored.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every file, by its path from the top of the checkout. */
export function listFiles(): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 });
  // One that was just deleted is still in git's list.
  return files.split('\0').filter((file) => file !== '' && isThere(file));
}

/** A text file's content. */
export function readFile(file: string): string {
  return readFileSync(`${ROOT}${file}`, 'utf8');
}

/** Whether there is such a file or folder. */
export function isThere(file: string): boolean {
  return existsSync(`${ROOT}${file}`);
}

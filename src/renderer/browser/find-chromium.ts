// Where the system keeps its Chromium. The binary itself comes before Debian's wrapper, which adds
// extensions and flags of its own that a render must not depend on.
import { accessSync, constants } from 'node:fs';
import { err, ok, type Result } from '../../core/result.ts';

const KNOWN_PATHS: readonly string[] = [
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium/chrome',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/lib/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The browser to start, or what to do about there being none.
 *
 * @param configured `render.chromium.executable_path`; null looks where systems put it
 */
export function findChromium(configured: string | null): Result<string, string> {
  if (configured !== null) {
    return isExecutable(configured) ? ok(configured) : err(`${configured} cannot be executed`);
  }
  const found = KNOWN_PATHS.find(isExecutable);
  return found === undefined
    ? err('no Chromium found: install the package chromium, or set render.chromium.executable_path')
    : ok(found);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Absent and forbidden are the same to us: it cannot be started.
    return false;
  }
}

// Brings node_modules to what package-lock.json says, before anything of it is imported: a fresh
// clone has none. Uses only what Node has built in. Idempotent: a second run changes nothing.
import { readFileSync } from 'node:fs';
import { ROOT, run } from './run.mjs';

const NODE_OLDEST = [20, 19];

/** Installs the packages when they are missing or differ from the lock file; ends on failure. */
export async function ensurePackages() {
  refuseOldNode();
  if (isInstalled()) return;
  console.log('Installing the packages of package-lock.json (npm ci) …');
  const status = await runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (status === 0) return;
  console.error(
    `The packages could not be installed: npm ci ended with status ${status} (its words are above).\n` +
      'It needs the npm registry that `npm config get registry` names; `npm ping` shows whether it answers.',
  );
  process.exit(1);
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = NODE_OLDEST;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  console.error(
    `Node ${NODE_OLDEST.join('.')} or newer is needed; this is ${process.versions.node}.`,
  );
  process.exit(1);
}

/** npm writes its hidden lock file last, so an interrupted installation never counts as one. */
function isInstalled() {
  const wanted = readPackages('package-lock.json');
  const present = readPackages('node_modules/.package-lock.json');
  if (wanted === null || present === null) return false;
  const ours = Object.keys(wanted['']?.optionalDependencies ?? {});
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    const found = present[path];
    if (found !== undefined) return found.version === version;
    // What is built for other systems is rightly absent here, but not what we name ourselves.
    return optional === true && !ours.includes(path.replace('node_modules/', ''));
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8')).packages;
  } catch {
    return null;
  }
}

/** Runs npm to its end: the one that started us, else the one in the path. */
export function runNpm(args) {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js') ? run(process.execPath, [script, ...args]) : run('npm', args);
}

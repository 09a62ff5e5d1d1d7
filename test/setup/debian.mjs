// Brings the programs that the gateway and its suites run beside themselves. Best effort: without
// root or apt it says what can't run; for suites, whether that fails is theirs to decide (in CI it does).
import { accessSync, constants } from 'node:fs';
import { run } from './run.mjs';

/** One line a program; the package is installed when the program is not in the path. */
const PROGRAMS = [
  {
    program: 'redis-server',
    package: 'redis-server',
    suites: 'the store and gateway suites over Redis',
  },
  {
    program: 'nginx',
    package: 'nginx-light',
    suites: 'the suites of the nginx recipes',
  },
  {
    program: 'chromium',
    package: 'chromium',
    suites: 'the rendering suites',
  },
];

const APT_ENVIRONMENT = {
  DEBIAN_FRONTEND: 'noninteractive',
  // Keeps the package's own service from being started: the tests start theirs on a free port.
  RUNLEVEL: '1',
};

/** Installs what is missing of the programs above. */
export async function ensurePrograms() {
  const missing = PROGRAMS.filter(({ program }) => !isInPath(program));
  if (missing.length === 0) return;
  if (canInstall()) await install(missing.map((entry) => entry.package));
  for (const { program, package: name, suites } of missing) {
    if (isInPath(program)) continue;
    console.log(
      `${program} is missing, so ${suites} can't run. On Debian: apt-get install ${name}`,
    );
  }
}

/** Installs the browser that renders the demo; answers whether there is one. */
export async function ensureBrowser() {
  if (isInPath('chromium')) return true;
  if (canInstall()) await install(['chromium']);
  return isInPath('chromium');
}

function canInstall() {
  return process.getuid?.() === 0 && isInPath('apt-get');
}

async function install(packages) {
  console.log(`Installing Debian packages: ${packages.join(' ')} …`);
  const args = ['-q', '-y', '--no-install-recommends', 'install', ...packages];
  // The list of packages may be there already; it is fetched only when it doesn't do.
  if ((await run('apt-get', args, APT_ENVIRONMENT)) === 0) return;
  await run('apt-get', ['-q', 'update'], APT_ENVIRONMENT);
  await run('apt-get', args, APT_ENVIRONMENT);
}

function isInPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/usr/sbin'];
  return folders.some((folder) => isExecutable(`${folder}/${program}`));
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

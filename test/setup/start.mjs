// `npm start`: sets everything up, then runs the gateway in front of the demo site until Ctrl-C. The
// demo site lives in this process; the gateway is its one child and in its process group, and this
// process ends only after it.
import { spawn } from 'node:child_process';
import { ensureBrowser } from './debian.mjs';
import { printInvitation } from './invitation.mjs';
import { ensurePackages } from './packages.mjs';
import { findBusyPort } from './ports.mjs';
import { ROOT } from './run.mjs';

/** edge-gateway.yaml and hosts.yaml take the same variables. */
const PORTS = [
  { of: 'gateway', variable: 'EDGE_GATEWAY_PORT', usual: '8080' },
  { of: 'admin listener', variable: 'EDGE_GATEWAY_ADMIN_PORT', usual: '9090' },
  { of: 'demo site', variable: 'DEMO_SITE_PORT', usual: '3000' },
].map((entry) => ({ ...entry, port: Number(process.env[entry.variable] ?? entry.usual) }));

/** The first start of a browser on a cold disk takes its time. */
const READY_TIMEOUT_MS = 120_000;
/** Longer than the gateway takes to let its requests end. */
const STOP_TIMEOUT_MS = 35_000;

await ensurePackages();
const busy = await findBusyPort(PORTS);
if (busy === undefined) {
  await start();
} else {
  console.error(
    `Port ${busy.port} is in use, and the ${busy.of} needs it. Stop what listens there ` +
      `(ss -ltnp shows it), or choose another port: ${busy.variable}=${busy.port + 1} npm start`,
  );
  process.exitCode = 1;
}

async function start() {
  const [gatewayPort, adminPort, sitePort] = PORTS.map(({ port }) => port);
  const { tsImport } = await import('tsx/esm/api');
  const { startDemoSite } = await tsImport('../demo-site/site.ts', import.meta.url);
  const site = await startDemoSite({ port: sitePort });
  const engine = await chooseEngine();
  const gateway = startGateway(engine);
  const ended = new Promise((resolve) => {
    gateway.once('error', () => resolve(127));
    gateway.once('exit', (code, signal) => resolve(code ?? signal));
  });
  const stopping = stopOnSignal(gateway);
  const isReady = await waitUntilReady(adminPort, ended);
  if (isReady) printInvitation(gatewayPort, adminPort, engine);
  else gateway.kill('SIGTERM');
  const status = await ended;
  await site.close();
  if (!stopping.aborted) {
    const trouble = isReady ? `ended by itself (${status})` : 'did not get ready';
    console.error(`The gateway ${trouble}; its own words are above.`);
    process.exitCode = 1;
  }
  // Nothing of ours is left; what the demo site's clients hold open must not keep us.
  process.exit();
}

/** Chromium renders where there is one; without it the origin's own HTML is what crawlers get. */
async function chooseEngine() {
  if (process.env.EDGE_GATEWAY_ENGINE !== undefined) return process.env.EDGE_GATEWAY_ENGINE;
  if (await ensureBrowser()) return 'chromium';
  console.log(
    "There is no Chromium here and it can't be installed without root and apt, so pages are stored " +
      'as the site sends them. On Debian: apt-get install chromium',
  );
  return 'origin';
}

function startGateway(engine) {
  const ports = Object.fromEntries(PORTS.map(({ variable, port }) => [variable, String(port)]));
  const args = ['--import', 'tsx', 'src/cli/main.ts', 'serve', '-c', 'edge-gateway.yaml'];
  return spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...ports, EDGE_GATEWAY_ENGINE: engine },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Passes the first signal on; the answer is aborted from then on. */
function stopOnSignal(gateway) {
  const stop = new AbortController();
  const pass = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    gateway.kill('SIGTERM');
    setTimeout(() => gateway.kill('SIGKILL'), STOP_TIMEOUT_MS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
  return stop.signal;
}

/** True once `/ready` answers 200; false when the gateway ended or the time is up. */
async function waitUntilReady(adminPort, ended) {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!hasEnded && Date.now() < deadline) {
    if (await answersReady(adminPort)) return true;
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  return false;
}

async function answersReady(adminPort) {
  try {
    const url = `http://127.0.0.1:${adminPort}/ready`;
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
}

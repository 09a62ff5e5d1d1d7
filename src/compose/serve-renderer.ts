// A render service with the hosts of a configuration: what `edge-gateway render-service` runs,
// alone on a machine of its own, or as the child of a gateway with `render.engine: chromium`.
import type { RendererWord } from '../adapters/renderer-process/renderer-word.ts';
import { createLog, type Log } from '../adapters/telemetry/create-log.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Settings } from '../config/settings.ts';
import type { PolicySet } from '../core/policy/policy.ts';
import { type HostIndex, indexHosts } from '../core/routing/match-host.ts';
import type { PoolSize, RenderListen, RenderServiceOptions } from '../renderer/options.ts';
import { type RenderService, startRenderService } from '../renderer/server/start-render-service.ts';
import { createRendererReloader } from './reload-renderer.ts';
import type { StartOptions } from './start-options.ts';

export interface RunningRenderer {
  readonly address: string;
  /** Reads hosts and sizes again; with errors the old ones stay. */
  readonly reload: () => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

export interface RendererPlace {
  readonly listen: RenderListen;
  /** The gateway's name in `Via`, where the renderer belongs to one. */
  readonly pseudonym: string | null;
  /** false: nobody but the gateway that has started it can reach it. */
  readonly needsToken: boolean;
  /**
   * Tells the gateway that has started it, which also says when to reload; null: it stands alone,
   * watches its files, and tells a person.
   */
  readonly tell: ((word: RendererWord) => void) | null;
}

/** Starts the service; null after whoever started it was told its errors. */
export async function serveRenderer(
  options: StartOptions,
  place: RendererPlace,
): Promise<RunningRenderer | null> {
  const { file, env } = options;
  const { tell } = place;
  const { config, diagnostics } = await loadConfig(file, env);
  if (config === null) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic);
    if (tell === null) for (const error of errors) options.stderr.write(`${error}\n`);
    else tell({ kind: 'failed', reason: `the configuration has errors: ${errors[0] ?? ''}` });
    return null;
  }
  const log = createLog(config.settings.log.level, options.stdout);
  let hosts = enabledHosts(config.policies);
  const findHost: FindHost = (name) => hosts.find(name);
  let renderer: RenderService;
  try {
    renderer = await start(config.settings, place, { log, findHost });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (tell === null) options.stderr.write(`edge-gateway: ${reason}\n`);
    else tell({ kind: 'failed', reason });
    return null;
  }
  void renderer.proven.then(() => {
    if (tell === null) log.info('renderer ready', { part: 'renderer', listen: renderer.address });
    else tell({ kind: 'ready' });
  });
  const reloader = createRendererReloader({
    file,
    env,
    log,
    config,
    watches: tell === null,
    apply: ({ policies, settings }) => {
      hosts = enabledHosts(policies);
      renderer.resize(sizeOf(settings));
      log.setLevel(settings.log.level);
    },
  });
  return {
    address: renderer.address,
    reload: reloader.reload,
    stop: async () => {
      reloader.close();
      await renderer.close();
    },
  };
}

type FindHost = RenderServiceOptions['findHost'];

async function start(
  settings: Settings,
  { listen, pseudonym, needsToken }: RendererPlace,
  { log, findHost }: { readonly log: Log; readonly findHost: FindHost },
): Promise<RenderService> {
  const { chromium, service } = settings.render;
  return await startRenderService({
    listen,
    ...(pseudonym === null ? {} : { pseudonym }),
    token: needsToken ? (service?.token ?? null) : null,
    findHost,
    executablePath: chromium.executablePath,
    pool: sizeOf(settings),
    log: (level, message, fields) => log[level](message, { part: 'renderer', ...fields }),
  });
}

function sizeOf({ render: { chromium } }: Settings): PoolSize {
  return { tabs: chromium.tabs, queueMax: chromium.queueMax };
}

function enabledHosts({ hosts }: PolicySet): HostIndex {
  return indexHosts(hosts.filter(({ enabled }) => enabled));
}

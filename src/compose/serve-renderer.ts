// A render service with the hosts of a configuration: what `edge-gateway render-service` runs,
// alone on a machine of its own, or as the child of a gateway with `render.engine: chromium`.
import type { RendererWord } from '../adapters/renderer-process/renderer-word.ts';
import { createLog } from '../adapters/telemetry/create-log.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Settings } from '../config/settings.ts';
import type { PolicySet } from '../core/policy/policy.ts';
import { type HostIndex, indexHosts } from '../core/routing/match-host.ts';
import type { PoolSize, RenderListen } from '../renderer/options.ts';
import { type RenderService, startRenderService } from '../renderer/server/start-render-service.ts';
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
  /** Tells the gateway that has started it, where there is one. */
  readonly tell: (word: RendererWord) => void;
}

/** Starts the service; null after its errors were written to stderr. */
export async function serveRenderer(
  options: StartOptions,
  { listen, pseudonym, needsToken, tell }: RendererPlace,
): Promise<RunningRenderer | null> {
  const { config, diagnostics } = await loadConfig(options.file, options.env);
  for (const problem of diagnostics) {
    if (problem.severity === 'error') options.stderr.write(`${formatDiagnostic(problem)}\n`);
  }
  if (config === null) {
    tell({ kind: 'failed', reason: 'the configuration has errors' });
    return null;
  }
  const log = createLog(config.settings.log.level, options.stdout);
  let hosts = enabledHosts(config.policies);
  const { chromium, service } = config.settings.render;
  let renderer: RenderService;
  try {
    renderer = await startRenderService({
      listen,
      ...(pseudonym === null ? {} : { pseudonym }),
      token: needsToken ? (service?.token ?? null) : null,
      findHost: (name) => hosts.find(name),
      executablePath: chromium.executablePath,
      pool: sizeOf(config.settings),
      log: (level, message, fields) => log[level](message, { part: 'renderer', ...fields }),
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    tell({ kind: 'failed', reason });
    options.stderr.write(`edge-gateway: ${reason}\n`);
    return null;
  }
  void renderer.proven.then(() => {
    log.info('renderer ready', { part: 'renderer', listen: renderer.address });
    tell({ kind: 'ready' });
  });
  return {
    address: renderer.address,
    reload: async () => {
      const next = await loadConfig(options.file, options.env);
      if (next.config === null) {
        const errors = next.diagnostics.map(formatDiagnostic);
        log.error('reload refused: hosts and sizes stay', { part: 'renderer', errors });
        return false;
      }
      hosts = enabledHosts(next.config.policies);
      renderer.resize(sizeOf(next.config.settings));
      return true;
    },
    stop: renderer.close,
  };
}

function sizeOf({ render: { chromium } }: Settings): PoolSize {
  return { tabs: chromium.tabs, queueMax: chromium.queueMax };
}

function enabledHosts({ hosts }: PolicySet): HostIndex {
  return indexHosts(hosts.filter(({ enabled }) => enabled));
}

// What happens to the gateway's own renderer, told to log and metrics. What crawlers get meanwhile
// is said with it, because that is what the reader of a warning has to know.
import type { RendererEvent } from '../adapters/renderer-process/supervise-renderer.ts';
import type { Log } from '../adapters/telemetry/create-log.ts';
import type { Metrics } from '../adapters/telemetry/create-metrics.ts';

export function createRendererObserver(
  log: Log,
  { recordRendererRestart }: Pick<Metrics, 'recordRendererRestart'>,
): (event: RendererEvent) => void {
  return (event) => {
    const { kind } = event;
    switch (kind) {
      case 'renderer_started':
        return log.info('renderer started', { kind, pid: event.pid });
      case 'renderer_ready':
        return log.info('renderer ready', { kind, start_ms: event.startMs });
      case 'renderer_late':
        return log.warn('renderer late', { kind, after_ms: event.afterMs, ...MEANWHILE });
      case 'renderer_ended': {
        const { code, signal, reason, restartMs, wasReady } = event;
        recordRendererRestart(wasReady ? 'crashed' : 'not_ready');
        const how = { code, signal, ...(reason === null ? {} : { reason }) };
        return log.warn('renderer ended', { kind, ...how, restart_ms: restartMs });
      }
    }
  };
}

/** The fields of a warning that nothing can be rendered. */
export const MEANWHILE = {
  crawlers_get: 'stored pages, else what on_render_error says',
} as const;

// The page source `service`: a pool of render services of one wire contract. The least loaded is
// asked first; a full or unreachable one passes the job on once; a broken render is
// not repeated elsewhere, because the page may be what breaks it.
import { createUpstreamPicker, type OriginHealth } from '../../core/http/pick-upstream.ts';
import type { Clock, PageJob, PageResult, PageSource } from '../../pipeline/ports.ts';
import { ownProtocol } from './ask-service.ts';
import { type ForeignProtocol, foreignProtocols } from './foreign/protocols.ts';
import { createService, type Service, type ServiceReply } from './service.ts';

export interface ServiceSourceOptions {
  readonly clock: Clock;
  /** Base URLs of the services. */
  readonly urls: readonly string[];
  readonly token: string | null;
  /** What they speak. */
  readonly protocol: 'edge-gateway' | ForeignProtocol;
  readonly pageBytesMax: number;
}

const SERVICES_TRIED_MAX = 2;
const READY_TIMEOUT_MS = 2_000;
/** Who refuses sooner costs a page nothing, and may be asked again soon. */
const AT_ONCE_MS = 1_000;

/** Creates the source; its pools open no connection before they are needed. */
export function createServiceSource(options: ServiceSourceOptions): PageSource {
  const services = options.urls.map(createService);
  const picker = createUpstreamPicker(services);
  const { protocol: name } = options;
  const protocol = name === 'edge-gateway' ? ownProtocol : foreignProtocols[name];

  const ask = async (
    service: Service,
    job: PageJob,
    deadline: AbortSignal,
    caller: AbortSignal,
  ): Promise<ServiceReply> => {
    picker.begin(service);
    const askedAt = options.clock.now();
    let health: OriginHealth = 'busy';
    try {
      const asked = protocol.ask(service, job, options, deadline);
      const reply = await untilAborted(asked, deadline);
      health = healthIn(reply, options.clock.now() - askedAt);
      return reply;
    } catch (error) {
      // It had time left to say that it was too late: it hangs.
      if (!caller.aborted) health = 'failed';
      throw error;
    } finally {
      picker.end(service, health, options.clock.now());
    }
  };

  const get = async (job: PageJob, signal: AbortSignal): Promise<PageResult> => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(job.render.timeoutMs)]);
    let result = failed('no_renderer', 'none_in_service');
    let isFull = false;
    const candidates = picker.candidates(options.clock.now(), 'none');
    for (const service of candidates.slice(0, SERVICES_TRIED_MAX)) {
      const reply = await ask(service, job, deadline, signal);
      if (reply.kind === 'result') return reply.result;
      if (reply.kind === 'broken') return failed(reply.reason, reply.detail);
      if (reply.kind === 'full') isFull = true;
      else result = failed('no_renderer', reply.detail);
    }
    return isFull ? failed('renderer_full', 'full') : result;
  };

  return {
    name: 'service',
    get: async (job, signal) => {
      try {
        return await get(job, signal);
      } catch (error) {
        if (error instanceof Aborted) return failed('render_timeout', 'deadline');
        throw error;
      }
    },
    check: async () => {
      const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
      const ready = await Promise.all(
        services.map((service) => protocol.isReady(service, options, signal)),
      );
      return ready.includes(true)
        ? { state: 'done', value: undefined }
        : { state: 'unavailable', reason: 'no render service is ready' };
    },
    close: async () => {
      await Promise.all(services.map((service) => service.pool.destroy()));
    },
  };
}

/** The page source `off`: there is no renderer, and the fallbacks answer. */
export function createOffSource(): PageSource {
  return {
    name: 'off',
    get: () => Promise.resolve(failed('no_renderer', 'off')),
    check: () => Promise.resolve({ state: 'done', value: undefined }),
    close: () => Promise.resolve(),
  };
}

/** What a reply says about the service that gave it, after so long. */
function healthIn(reply: ServiceReply, tookMs: number): OriginHealth {
  switch (reply.kind) {
    case 'result':
      return 'ok';
    case 'full':
      return 'busy';
    case 'broken':
      return reply.reason === 'too_large' ? 'ok' : 'failed';
    case 'unusable':
      return tookMs < AT_ONCE_MS ? 'absent' : 'failed';
  }
}

class Aborted extends Error {}

/** undici sees a signal only once a request has left its queue; this sees it at once. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new Aborted());
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    throw signal.aborted ? new Aborted() : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function failed(
  reason: Extract<PageResult, { outcome: 'failed' }>['reason'],
  detail: string,
): PageResult {
  return { outcome: 'failed', reason, detail };
}

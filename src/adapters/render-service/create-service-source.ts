// The page source `service`: a pool of render services of one wire contract. The least loaded is
// asked first; a full or unreachable one passes the job on once; a broken render is
// not repeated elsewhere, because the page may be what breaks it.
import {
  createUpstreamPicker,
  type OriginHealth,
  type UpstreamPicker,
} from '../../core/http/pick-upstream.ts';
import type {
  Clock,
  PageJob,
  PageResult,
  PageSource,
  RendererState,
} from '../../pipeline/ports.ts';
import { createOwnAsker, type OwnService } from './ask-own.ts';
import { ownProtocol } from './ask-service.ts';
import { type ForeignProtocol, foreignProtocols } from './foreign/protocols.ts';
import { createService, type Protocol, type Service, type ServiceReply } from './service.ts';

export interface ServiceSourceOptions {
  readonly clock: Clock;
  /** Base URLs of the services. */
  readonly urls: readonly string[];
  readonly token: string | null;
  /** What they speak. */
  readonly protocol: 'edge-gateway' | ForeignProtocol;
  readonly pageBytesMax: number;
  /** Where the one service is the gateway's own. */
  readonly own?: OwnService;
}

const SERVICES_TRIED_MAX = 2;
const READY_TIMEOUT_MS = 2_000;
/** Who refuses sooner costs a page nothing, and may be asked again soon. */
const AT_ONCE_MS = 1_000;

/** Creates the source; its pools open no connection before they are needed. */
export function createServiceSource(options: ServiceSourceOptions): PageSource {
  const { clock, own, protocol: name } = options;
  const services = options.urls.map(createService);
  const picker = createUpstreamPicker(services);
  const protocol = name === 'edge-gateway' ? ownProtocol : foreignProtocols[name];
  const ask = createAsker(options, protocol, picker);

  const get = async (job: PageJob, signal: AbortSignal): Promise<PageResult> => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(job.render.timeoutMs)]);
    let result = failed('no_renderer', 'none_in_service');
    let isFull = false;
    const candidates = picker.candidates(clock.now(), 'none');
    for (const service of candidates.slice(0, SERVICES_TRIED_MAX)) {
      const reply = await ask(service, { job, deadline, caller: signal });
      if (reply.kind === 'result') return reply.result;
      if (reply.kind === 'broken') return failed(reply.reason, reply.detail);
      if (reply.kind === 'full') isFull = true;
      else result = failed('no_renderer', reply.detail);
    }
    return isFull ? failed('renderer_full', 'full') : result;
  };

  const askReady = async (): Promise<readonly RendererState[]> => {
    const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
    const states = services.map(async (service) => ({
      name: own === undefined ? service.name : 'own',
      isReady: await protocol.isReady(service, options, signal),
    }));
    return await Promise.all(states);
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
      // Who watches our own knows better why it isn't.
      const ownState = await own?.untilReady(0);
      if (ownState?.state === 'unavailable') return ownState;
      const states = await askReady();
      if (states.some(({ isReady }) => isReady)) return { state: 'done', value: undefined };
      return { state: 'unavailable', reason: 'no render service is ready' };
    },
    renderers: askReady,
    close: async () => {
      await Promise.all(services.map((service) => service.pool.destroy()));
    },
  };
}

interface Asked {
  readonly job: PageJob;
  readonly deadline: AbortSignal;
  readonly caller: AbortSignal;
}

type AskService = (service: Service, asked: Asked) => Promise<ServiceReply>;

/** One question to one service, and what its picker learns from it; our own is waited for. */
function createAsker(
  options: ServiceSourceOptions,
  protocol: Protocol,
  picker: UpstreamPicker<Service>,
): AskService {
  const { clock, own } = options;

  const ask: AskService = async (service, { job, deadline, caller }) => {
    picker.begin(service);
    const askedAt = clock.now();
    let health: OriginHealth = 'busy';
    try {
      const asked = protocol.ask(service, job, options, deadline);
      const reply = await untilAborted(asked, deadline);
      // Who left our own out would go on without it, instead of waiting.
      const isOwnGone = own !== undefined && reply.kind === 'unusable';
      health = isOwnGone ? 'busy' : healthIn(reply, clock.now() - askedAt);
      return reply;
    } catch (error) {
      // It had time left to say that it was too late: it hangs.
      if (!caller.aborted) health = 'failed';
      throw error;
    } finally {
      picker.end(service, health, clock.now());
    }
  };
  if (own === undefined) return ask;
  const askOwn = createOwnAsker(own);
  return async (service, { job, deadline, caller }) => {
    const askOnce = (next: PageJob): Promise<ServiceReply> =>
      ask(service, { job: next, deadline, caller });
    return await untilAborted(askOwn({ job, ask: askOnce, signal: deadline }), deadline);
  };
}

/** The page source `off`: there is no renderer, and the fallbacks answer. */
export function createOffSource(): PageSource {
  return {
    name: 'off',
    get: () => Promise.resolve(failed('no_renderer', 'off')),
    check: () => Promise.resolve({ state: 'done', value: undefined }),
    renderers: () => Promise.resolve([]),
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

// The render service without its HTTP: a checked question in, the contract's answer out. It owns
// what all renders share, and knows whether a page could be rendered now.
import { createSecureContext } from 'node:tls';
import type { RenderAnswer } from '../../core/http/render-answer.ts';
import { countRenderHops } from '../../core/http/render-loop.ts';
import type { RenderRequest } from '../../core/http/render-request.ts';
import { createLauncher } from '../browser/create-launcher.ts';
import { findChromium } from '../browser/find-chromium.ts';
import { connectPublic } from '../egress/connect-public.ts';
import { createOriginAgents } from '../egress/origin-route.ts';
import { createSelfSigned } from '../egress/self-signed.ts';
import { sweepOwnFolders } from '../folders/own-folder.ts';
import { RENDER_LIMITS } from '../limits.ts';
import {
  CANARY_INTERVAL_MS,
  DEFAULT_PSEUDONYM,
  type Log,
  POOL_DEFAULTS,
  type RenderHost,
  type RenderServiceOptions,
} from '../options.ts';
import { buildFailedAnswer } from '../page/build-answer.ts';
import { BrowserLostError, type CaptureTools, capturePage } from '../page/capture-page.ts';
import { createPool, type RenderPool } from '../pool/render-pool.ts';
import { WaitedInVainError } from '../pool/work-queue.ts';
import { startCanary } from './canary.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createUnknownHostTeller } from './unknown-hosts.ts';

export interface Renderer {
  /** Throws QueueFullError or NoBrowserError when no render could begin. */
  readonly render: (request: RenderRequest, signal: AbortSignal) => Promise<RenderAnswer>;
  readonly isReady: () => boolean;
  /** Resolves when it has rendered for the first time. */
  readonly proven: Promise<void>;
  readonly metrics: Metrics;
  readonly pool: RenderPool;
  readonly close: () => Promise<void>;
}

/** Canary intervals without a success after which the service is not ready. */
const INTERVALS_MISSED_MAX = 3;
const NO_PLAIN_URL = { code: 'refused', message: 'not a plain http(s) URL' } as const;
const NOT_CONFIGURED = { code: 'unknown_host', message: 'the host is not configured' } as const;
const LOOP = { code: 'loop', message: 'a render of a render of a render' } as const;
const NO_TAB = { code: 'timeout', message: 'no tab was free in time' } as const;
const LOST_TWICE = { code: 'crashed', message: 'the browser was lost twice' } as const;

/** Starts the browser and the canary. */
export async function createRenderer(options: RenderServiceOptions): Promise<Renderer> {
  const log: Log = options.log ?? (() => undefined);
  const executable = findChromium(options.executablePath ?? null);
  if (!executable.ok) throw new Error(executable.error);
  const swept = await sweepOwnFolders();
  if (swept > 0) log('info', 'folders of dead processes removed', { count: swept });
  const identity = createSelfSigned();
  const metrics = createMetrics();
  const agents = createOriginAgents();
  const launcher = createLauncher(executable.value, identity.keyHash, log);
  const pool = await createPool(launcher, { ...POOL_DEFAULTS, ...options.pool }, log);
  const tools: SharedTools = {
    agents,
    secureContext: createSecureContext({ cert: identity.cert, key: identity.key }),
    connectPublic: options.connectPublic ?? connectPublic,
    pseudonym: options.pseudonym ?? DEFAULT_PSEUDONYM,
    onRefusals: metrics.refused,
  };
  const measured = async (order: Order): Promise<RenderAnswer> => {
    const startedAt = performance.now();
    const answer = await runOrder(pool, tools, order);
    const { outcome, error } = answer.head;
    metrics.rendered(outcome, error?.code ?? null, performance.now() - startedAt);
    return answer;
  };

  const tellUnknown = createUnknownHostTeller(log, () => performance.now());
  const intervalMs = options.canaryIntervalMs ?? CANARY_INTERVAL_MS;
  const isRecent = (withinMs: number): boolean => {
    const since = metrics.sinceSuccessSeconds();
    return since !== null && since * 1_000 < withinMs;
  };
  const canary = await startCanary({
    intervalMs,
    isProven: () => isRecent(intervalMs),
    render: (request, host) =>
      measured({ request, host, hops: 1, findHost: () => host, signal: NEVER }),
    onDead: () => pool.replace('canary'),
  });
  return {
    render: async (request, signal) => {
      const { findHost } = options;
      const name = hostName(request.url);
      if (name === '') return buildFailedAnswer(NO_PLAIN_URL);
      const host = findHost(name);
      const hops = countRenderHops(request.headers) + 1;
      if (host === null) {
        tellUnknown(name);
        return buildFailedAnswer(NOT_CONFIGURED);
      }
      if (hops > RENDER_LIMITS.hopsMax) return buildFailedAnswer(LOOP);
      return await measured({ request, host, hops, findHost, signal });
    },
    isReady: () =>
      pool.state.isUp && canary.isAlive() && isRecent(intervalMs * INTERVALS_MISSED_MAX),
    proven: canary.proven,
    metrics,
    pool,
    close: async () => {
      await pool.close();
      await canary.close();
      agents.close();
      // Our parent may have been killed: the folder of our socket is its own.
      await sweepOwnFolders();
    },
  };
}

type SharedTools = Omit<CaptureTools, 'findHost'>;

/** One render: what, for which host, and how deep. */
interface Order {
  readonly request: RenderRequest;
  readonly host: RenderHost;
  readonly hops: number;
  readonly findHost: (name: string) => RenderHost | null;
  readonly signal: AbortSignal;
}

const NEVER: AbortSignal = new AbortController().signal;

async function runOrder(pool: RenderPool, tools: SharedTools, order: Order): Promise<RenderAnswer> {
  const { request, findHost, signal } = order;
  const deadlineAt = performance.now() + request.timeout_ms;
  const job = { ...order, deadlineAt };
  try {
    const work = { ...tools, findHost };
    return await pool.run((browser) => capturePage(browser, job, work), { deadlineAt, signal });
  } catch (error) {
    if (error instanceof WaitedInVainError) return buildFailedAnswer(NO_TAB);
    if (error instanceof BrowserLostError) return buildFailedAnswer(LOST_TWICE);
    throw error;
  }
}

/** The name to look up; empty for what is no plain http(s) URL. */
function hostName(url: string): string {
  if (!URL.canParse(url)) return '';
  const { hostname, username, password } = new URL(url);
  return username === '' && password === '' ? hostname.replace(/^\[|\]$/g, '') : '';
}

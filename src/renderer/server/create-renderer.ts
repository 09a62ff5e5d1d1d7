// The render service without its HTTP: a checked question in, the contract's answer out. It owns what
// all renders share, keeps the canary going and knows whether a page could be rendered now.
import { createSecureContext } from 'node:tls';
import type { RenderAnswer } from '../../core/http/render-answer.ts';
import { countRenderHops } from '../../core/http/render-loop.ts';
import type { RenderRequest } from '../../core/http/render-request.ts';
import { createLauncher } from '../browser/create-launcher.ts';
import { findChromium } from '../browser/find-chromium.ts';
import { sweepProfileFolders } from '../browser/profile-folder.ts';
import { connectPublic } from '../egress/connect-public.ts';
import { createOriginAgents } from '../egress/origin-route.ts';
import { createSelfSigned } from '../egress/self-signed.ts';
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
import { createPool, type RenderPool } from '../pool/create-pool.ts';
import { WaitedInVainError } from '../pool/work-queue.ts';
import { createCanary } from './canary.ts';
import { createMetrics, type Metrics } from './metrics.ts';

export interface Renderer {
  /** Throws QueueFullError or NoBrowserError when no render could begin. */
  readonly render: (request: RenderRequest, signal: AbortSignal) => Promise<RenderAnswer>;
  readonly isReady: () => boolean;
  readonly metrics: Metrics;
  readonly pool: RenderPool;
  readonly close: () => Promise<void>;
}

const CANARY_TIMEOUT_MS = 10_000;
/** Canary intervals without a success after which the service is not ready. */
const INTERVALS_MISSED_MAX = 3;

/** Starts the browser and the canary. */
export async function createRenderer(options: RenderServiceOptions): Promise<Renderer> {
  const log: Log = options.log ?? (() => undefined);
  const executable = findChromium(options.executablePath ?? null);
  if (!executable.ok) throw new Error(executable.error);
  const swept = await sweepProfileFolders();
  if (swept > 0) log('info', 'browser folders of dead processes removed', { count: swept });
  const identity = createSelfSigned();
  const metrics = createMetrics();
  const agents = createOriginAgents();
  const poolOptions = { ...POOL_DEFAULTS, ...options.pool };
  const launcher = createLauncher(executable.value, identity.keyHash, log);
  const pool = await createPool(launcher, poolOptions, log);
  const tools = {
    agents,
    secureContext: createSecureContext({ cert: identity.cert, key: identity.key }),
    connectPublic: options.connectPublic ?? connectPublic,
    pseudonym: options.pseudonym ?? DEFAULT_PSEUDONYM,
    onRefusals: metrics.refused,
  };

  const run = async (
    request: RenderRequest,
    order: Order,
    signal: AbortSignal,
  ): Promise<RenderAnswer> => {
    const deadlineAt = performance.now() + request.timeout_ms;
    const limits = { deadlineAt, signal };
    const job = { request, host: order.host, hops: order.hops, ...limits };
    try {
      return await pool.run((browser) => capturePage(browser, job, { ...tools, ...order }), limits);
    } catch (error) {
      if (error instanceof WaitedInVainError) {
        return buildFailedAnswer({ code: 'timeout', message: 'no tab was free in time' });
      }
      if (error instanceof BrowserLostError) {
        return buildFailedAnswer({ code: 'crashed', message: 'the browser was lost twice' });
      }
      throw error;
    }
  };
  const render = async (request: RenderRequest, signal: AbortSignal): Promise<RenderAnswer> => {
    const { findHost } = options;
    const host = findHost(hostName(request.url));
    const hops = countRenderHops(request.headers) + 1;
    if (host === null) return buildFailedAnswer(NOT_CONFIGURED);
    if (hops > RENDER_LIMITS.hopsMax) return buildFailedAnswer(LOOP);
    const startedAt = performance.now();
    const answer = await run(request, { host, hops, findHost }, signal);
    const { outcome, error } = answer.head;
    metrics.rendered(outcome, error?.code ?? null, performance.now() - startedAt);
    return answer;
  };

  const intervalMs = options.canaryIntervalMs ?? CANARY_INTERVAL_MS;
  const canary = await createCanary(CANARY_TIMEOUT_MS);
  let isCanaryAlive = false;
  const tryCanary = async (): Promise<void> => {
    const since = metrics.sinceSuccessSeconds();
    if (isCanaryAlive && since !== null && since * 1_000 < intervalMs) return;
    const { host, request } = canary;
    const findHost = (): RenderHost => host;
    const signal = new AbortController().signal;
    try {
      const startedAt = performance.now();
      const answer = await run(request, { host, hops: 1, findHost }, signal);
      isCanaryAlive = canary.isAlive(answer);
      const outcome = isCanaryAlive ? 'complete' : 'failed';
      metrics.rendered(outcome, answer.head.error?.code ?? null, performance.now() - startedAt);
      if (!isCanaryAlive) pool.replace('canary');
    } catch {
      // A full queue or a missing browser says nothing about the canary; both show elsewhere.
    }
  };
  let trying = tryCanary();
  const timer = setInterval(() => {
    trying = trying.then(tryCanary);
  }, intervalMs);
  timer.unref();

  return {
    render,
    isReady: () => {
      const since = metrics.sinceSuccessSeconds();
      const isRecent = since !== null && since * 1_000 < intervalMs * INTERVALS_MISSED_MAX;
      return pool.state().isUp && isCanaryAlive && isRecent;
    },
    metrics,
    pool,
    close: async () => {
      clearInterval(timer);
      await pool.close();
      await trying;
      await canary.close();
      agents.close();
    },
  };
}

type Order = Pick<CaptureTools, 'findHost'> & { readonly host: RenderHost; readonly hops: number };

const NOT_CONFIGURED = { code: 'refused', message: 'the host is not configured' } as const;
const LOOP = { code: 'loop', message: 'a render of a render of a render' } as const;

/** The name to look up; empty for what is no plain http(s) URL. */
function hostName(url: string): string {
  if (!URL.canParse(url)) return '';
  const { hostname, username, password } = new URL(url);
  return username === '' && password === '' ? hostname.replace(/^\[|\]$/g, '') : '';
}

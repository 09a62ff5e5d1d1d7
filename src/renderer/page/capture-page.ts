// One render, from an empty browser context to the captured page. Everything it opens is closed
// when it returns or throws: the context, and the egress with every connection the page has.
import type { SecureContext } from 'node:tls';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import type { RenderAnswer, RenderErrorCode } from '../../core/http/render-answer.ts';
import type { RenderRequest } from '../../core/http/render-request.ts';
import { createEgress, type Egress } from '../egress/create-egress.ts';
import { isConnectFailure, type OriginAgents } from '../egress/origin-route.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { ConnectPublic, RenderHost } from '../options.ts';
import { interceptRequests } from '../requests/intercept-requests.ts';
import { compileRequestFilter } from '../requests/request-filter.ts';
import { applyMetas, leavingStatus } from './apply-metas.ts';
import { buildFailedAnswer, buildPageAnswer, buildRedirectAnswer } from './build-answer.ts';
import { captureDom } from './capture-dom.ts';
import { createOnce, type Once, OverdueError, withDeadline } from './deadline.ts';
import { growViewport } from './grow-viewport.ts';
import { type Ending, type WatchedDocument, watchMainDocument } from './main-document.ts';
import { openContext } from './open-context.ts';
import { waitUntilReady, watchEvents } from './wait-until-ready.ts';
import { watchConsole } from './watch-console.ts';
import { type NetworkWatch, watchNetwork } from './watch-network.ts';

/** What every render of a service shares. */
export interface CaptureTools {
  readonly agents: OriginAgents;
  readonly secureContext: SecureContext;
  readonly connectPublic: ConnectPublic;
  readonly pseudonym: string;
  readonly findHost: (name: string) => RenderHost | null;
  readonly onRefusals: (count: number) => void;
}

export interface CaptureJob {
  readonly request: RenderRequest;
  readonly host: RenderHost;
  /** How many renders deep requests to the origin are. */
  readonly hops: number;
  /** performance.now() at which the answer is too late. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
}

/** The browser is gone, or no longer answers: nothing was wrong with the page. */
export class BrowserLostError extends Error {}

/** Renders one page. Throws only BrowserLostError. */
export async function capturePage(
  browser: Browser,
  job: CaptureJob,
  tools: CaptureTools,
): Promise<RenderAnswer> {
  const isOwnHost = (name: string): boolean => tools.findHost(name)?.domain === job.host.domain;
  const egress = await createEgress({
    route: { host: job.host, agents: tools.agents, hops: job.hops, pseudonym: tools.pseudonym },
    isOwnHost,
    connectPublic: tools.connectPublic,
    secureContext: tools.secureContext,
  });
  const lost = createOnce<'lost'>();
  const onLost = (): void => lost.give('lost');
  browser.once('disconnected', onLost);
  let context: BrowserContext | null = null;
  const render = async (): Promise<RenderAnswer> => {
    const opened = openContext(browser, job.request, egress.proxyUrl);
    context = await withDeadline(opened, RENDER_LIMITS.browserAnswerTimeoutMs);
    const page = await withDeadline(context.newPage(), RENDER_LIMITS.browserAnswerTimeoutMs);
    return await capture({ job, context, page, egress, isOwnHost });
  };
  try {
    const rendered = render();
    rendered.catch(() => undefined);
    // Not every question that Playwright has open fails when its browser dies.
    const first = await Promise.race([rendered, lost.promise]);
    if (first === 'lost') throw new BrowserLostError();
    return first;
  } catch (error) {
    if (error instanceof BrowserLostError || (await isLost(browser, lost, error))) {
      throw new BrowserLostError();
    }
    const message = error instanceof Error ? error.message : String(error);
    return buildFailedAnswer({ code: 'internal', message });
  } finally {
    browser.off('disconnected', onLost);
    tools.onRefusals(egress.refusals);
    egress.close();
    if (context !== null) await closeContext(browser, context);
  }
}

/** The errors of a dying browser come before the news of its end. */
async function isLost(browser: Browser, lost: Once<'lost'>, error: unknown): Promise<boolean> {
  if (error instanceof OverdueError) return true;
  const isClosed = error instanceof Error && /closed|disconnected/i.test(error.message);
  if (isClosed) await withDeadline(lost.promise, NEWS_DELAY_MS).catch(() => undefined);
  return !browser.isConnected();
}

const NEWS_DELAY_MS = 1_000;

async function closeContext(browser: Browser, context: BrowserContext): Promise<void> {
  if (!browser.isConnected()) return;
  try {
    await withDeadline(context.close(), RENDER_LIMITS.browserAnswerTimeoutMs);
  } catch {
    // A context that cannot be closed is one the browser keeps: it must not take another page.
    if (browser.isConnected()) throw new BrowserLostError();
  }
}

interface Rendering {
  readonly job: CaptureJob;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly egress: Egress;
  readonly isOwnHost: (name: string) => boolean;
}

async function capture(rendering: Rendering): Promise<RenderAnswer> {
  const { job, context, page, egress, isOwnHost } = rendering;
  const { request, host } = job;
  const startedAt = performance.now();
  const ended = createOnce<Ending>();
  const fail = (code: RenderErrorCode, message: string): void =>
    ended.give({ kind: 'failed', code, message });

  const session = await context.newCDPSession(page);
  const consoleErrors = watchConsole(page);
  context.on('page', (popup) => void popup.close().catch(() => undefined));
  page.once('crash', () => fail('crashed', 'the page crashed'));
  const document = watchMainDocument({
    url: request.url,
    headers: request.headers,
    host,
    isOwnHost,
    end: ended.give,
  });
  // Three questions at once cost the browser's answer time once.
  const [network, { frameTree }] = await Promise.all([
    watchNetwork(session, {
      pageUrl: request.url,
      longPollAfterMs: longPollAfterMs(request),
      onFailed: (networkId) => {
        if (networkId === document.answer()?.networkId) fail('origin_unreachable', 'cut document');
      },
    }),
    session.send('Page.getFrameTree'),
    session.send('Page.enable'),
  ]);
  const filter = compileRequestFilter(request);
  await interceptRequests(session, frameTree.frame.id, { filter, main: document });

  const view: View = { session, page, network, document, frameId: frameTree.frame.id };
  const timeout = setTimeout(
    () => (document.answer() === null ? fail('origin_timeout', 'no answer') : fail('timeout', '')),
    Math.max(0, job.deadlineAt - performance.now()),
  );
  const onAbort = (): void => fail('timeout', 'the asker left');
  job.signal.addEventListener('abort', onAbort, { once: true });
  if (job.signal.aborted) onAbort();
  try {
    const finished = finish(view, { job, startedAt, ended, egress });
    const first = await Promise.race([finished, ended.promise]);
    finished.catch(() => undefined);
    if ('head' in first) {
      return { ...first, head: { ...first.head, console_errors: consoleErrors } };
    }
    return await concludeEarly(first, view, startedAt);
  } finally {
    clearTimeout(timeout);
    job.signal.removeEventListener('abort', onAbort);
  }
}

interface View {
  readonly session: CDPSession;
  readonly page: Page;
  readonly network: NetworkWatch;
  readonly document: WatchedDocument;
  readonly frameId: string;
}

interface Course {
  readonly job: CaptureJob;
  readonly startedAt: number;
  readonly ended: Once<Ending>;
  readonly egress: Egress;
}

/** Loads the page, waits until it is ready or the soft limit has come, and takes it. */
async function finish(view: View, course: Course): Promise<RenderAnswer> {
  const { session, network, document, page } = view;
  const { job, startedAt, ended, egress } = course;
  const { request } = job;
  const timings: Record<string, number> = {};
  const hasCome = watchEvents(session, view.frameId);
  const { errorText } = await session.send('Page.navigate', { url: request.url });
  if (errorText !== undefined) {
    // A redirect cancels the navigation: that ending is already on its way.
    if (ended.value() !== null) return await new Promise<never>(() => undefined);
    return buildFailedAnswer(describeFailure(egress.originFailure, errorText));
  }
  timings['response'] = performance.now() - startedAt;
  const softAt = Math.min(
    startedAt + request.soft_timeout_ms,
    job.deadlineAt - captureMarginMs(request.timeout_ms),
  );
  const readiness = { session, network, request, softAt };
  const isReady = await waitUntilReady(readiness, hasCome);
  const { width, height } = request;
  const isGrown =
    isReady && (await growViewport({ page, session, network, width, height, softAt }));
  timings['ready'] = performance.now() - startedAt;
  const pending = isGrown ? [] : network.pending();
  const dom = await captureDom(view.session, view.frameId, request.strip_scripts);
  timings['captured'] = performance.now() - startedAt;

  const answer = document.answer();
  if (dom.html === null) return buildFailedAnswer(TOO_LARGE, timings);
  if (answer === null || !isSameOrigin(dom.url, request.url)) {
    return buildFailedAnswer({ code: 'refused', message: 'the page became another one' }, timings);
  }
  const html = Buffer.from(dom.html, 'utf8');
  if (html.length > RENDER_LIMITS.htmlBytesMax) return buildFailedAnswer(TOO_LARGE, timings);
  const { status, headers, location } = applyMetas(answer, dom);
  if (location !== null) return buildRedirectAnswer({ status, location, headers }, timings);
  const outcome = isGrown ? 'complete' : 'partial';
  // history.pushState takes URLs of any length.
  const finalUrl = dom.url.length > RENDER_LIMITS.textCharsMax ? request.url : dom.url;
  const head = { outcome, status, final_url: finalUrl, headers, timings } as const;
  return buildPageAnswer({ ...head, consoleErrors: [], pending }, html);
}

/** A short render knows its long polls as well, before they make it partial. */
function longPollAfterMs({
  long_poll_after_ms: afterMs,
  soft_timeout_ms: softMs,
}: RenderRequest): number {
  return Math.min(afterMs, softMs * RENDER_LIMITS.longPollPart);
}

function captureMarginMs(timeoutMs: number): number {
  return Math.min(RENDER_LIMITS.captureMarginMs, timeoutMs * RENDER_LIMITS.captureMarginPart);
}

const TOO_LARGE = { code: 'too_large', message: 'larger than a page may be' } as const;

/** The render ended before the page was ready: it redirects, is left, or failed. */
async function concludeEarly(ending: Ending, view: View, startedAt: number): Promise<RenderAnswer> {
  const timings = { ended: performance.now() - startedAt };
  if (ending.kind === 'failed') return buildFailedAnswer(ending, timings);
  if (ending.kind === 'redirect') return buildRedirectAnswer(ending, timings);
  const dom = await withDeadline(
    captureDom(view.session, view.frameId, false),
    RENDER_LIMITS.captureMarginMs,
  ).catch(() => null);
  const status = leavingStatus(dom?.statusMeta ?? null);
  const headers = view.document.answer()?.headers ?? [];
  return buildRedirectAnswer({ status, location: ending.location, headers }, timings);
}

function describeFailure(
  failure: Error | null,
  errorText: string,
): { readonly code: RenderErrorCode; readonly message: string } {
  if (failure === null) return { code: 'origin_unreachable', message: errorText };
  const message = `${errorText}: ${failure.message}`;
  const isSlow = isConnectFailure(failure) && 'code' in failure && failure.code === 'ETIMEDOUT';
  return { code: isSlow ? 'origin_timeout' : 'origin_unreachable', message };
}

/** A blob has the origin of its maker, but is another document. */
function isSameOrigin(url: string, other: string): boolean {
  if (!/^https?:/.test(url) || !URL.canParse(url)) return false;
  return new URL(url).origin === new URL(other).origin;
}

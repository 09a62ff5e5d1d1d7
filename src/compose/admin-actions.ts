// What the admin API does, over the runtime in service: the same functions as the commands.
import { explainDecision } from '../core/decision/explain-decision.ts';
import type { Result } from '../core/result.ts';
import { findCached, findUnshared } from '../pipeline/find-cached.ts';
import type { BotJudge } from '../pipeline/judge-bot.ts';
import { type PurgeError, type PurgeReport, purgePages } from '../pipeline/purge/purge-pages.ts';
import { formatPurgeError, formatReport } from '../pipeline/purge/purge-report.ts';
import type { RefreshActions } from '../server/admin/add-refresh-routes.ts';
import type {
  AdminDeps,
  AdminResult,
  ExplainQuestion,
  ReadyReport,
} from '../server/admin/create-admin-app.ts';
import type { Runtime } from './build-runtime.ts';
import type { Stores } from './open-stores.ts';
import type { ConfigState, Reloader } from './reload.ts';

export interface AdminContext {
  readonly runtime: () => Runtime;
  readonly stores: Stores;
  readonly bots: BotJudge;
  readonly refreshing: RefreshActions;
  readonly metrics: { readonly render: () => Promise<string>; readonly contentType: string };
  /** `ok`, or why no request is taken. */
  readonly accepting: () => string;
  readonly reloader: Pick<Reloader, 'reloadForAdmin' | 'state'>;
  readonly restart: () => Promise<AdminResult>;
  readonly onError: (error: unknown) => void;
}

/** @returns everything the admin listener needs */
export function createAdminActions(context: AdminContext): AdminDeps {
  const { runtime, metrics } = context;
  return {
    token: () => runtime().config.settings.admin.token,
    ready: async () => await checkReadiness(context),
    metrics: async () => ({ contentType: metrics.contentType, text: await metrics.render() }),
    explain: async (question) => await explain(question, context),
    purge: async (command) => {
      const { config, snapshot } = runtime();
      const { decider } = snapshot.site;
      const { hosts } = config.policies;
      return answerPurge(await purgePages(command, { decider, hosts, stores: context.stores }));
    },
    recache: context.refreshing.recache,
    warm: context.refreshing.warm,
    reload: context.reloader.reloadForAdmin,
    restart: context.restart,
    onError: context.onError,
  };
}

/** Ready means that pages can be served: the page source works, and nobody is stopping us. */
async function checkReadiness(context: AdminContext): Promise<ReadyReport> {
  const { runtime, stores, accepting } = context;
  const { source } = runtime();
  const [entries, bodies, pages, evictsBy] = await Promise.all([
    stores.entries.check(),
    stores.bodies.check(),
    source.check(),
    stores.checkEviction?.() ?? null,
  ]);
  const describe = (done: { readonly state: string; readonly reason?: string }): string =>
    done.state === 'done' ? 'ok' : (done.reason ?? 'unavailable');
  const checks = {
    [`entries (${stores.entries.name})`]: describe(entries),
    [`bodies (${stores.bodies.name})`]: describe(bodies),
    ...(evictsBy === null ? {} : { 'memory (redis)': `evicts by ${evictsBy}` }),
    [`page source (${source.name})`]: describe(pages),
    accepting: accepting(),
  };
  // Without its store the gateway still answers from the origin, so that alone is not "not ready".
  return {
    isReady: pages.state === 'done' && accepting() === 'ok',
    checks,
    // Nor is a file with an error: what runs is whole.
    config: describeConfig(context.reloader.state()),
  };
}

function describeConfig({ isCurrent, errors, readAt }: ConfigState): ReadyReport['config'] {
  return { current: isCurrent, errors, read_at: new Date(readAt).toISOString() };
}

async function explain(
  { url, method, userAgent, address }: ExplainQuestion,
  { runtime, stores, bots }: AdminContext,
): Promise<AdminResult> {
  const judgeBot = await bots.judgeAhead(userAgent, address);
  const { site, pipeline } = runtime().snapshot;
  const decision = site.decider.decide(
    { url, method, userAgent, hasAuthorization: false, judgeBot },
    [],
  );
  const cached = await findCached(decision, stores.pages);
  return {
    status: 200,
    body: explainDecision(decision, cached, findUnshared(decision, pipeline)),
  };
}

const PURGE_STATUS: Readonly<Record<PurgeError['kind'], number>> = {
  invalid_url: 400,
  invalid_pattern: 400,
  invalid_tag: 400,
  unknown_host: 404,
  not_undoable: 409,
  store_unavailable: 503,
  unfinished: 503,
};

function answerPurge(result: Result<PurgeReport, PurgeError>): AdminResult {
  if (result.ok) return { status: 200, body: formatReport(result.value) };
  return {
    status: PURGE_STATUS[result.error.kind],
    body: { error: formatPurgeError(result.error) },
  };
}

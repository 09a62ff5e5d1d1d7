// Reload without a restart: on SIGHUP, by the admin API, and when a file changes. The new
// configuration is built aside; with any error the old one goes on serving and the error is told.
import type { Log } from '../adapters/telemetry/create-log.ts';
import type { Metrics } from '../adapters/telemetry/create-metrics.ts';
import { createCopyingReader } from '../config/config-reader.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../pipeline/ports.ts';
import { adminError } from '../server/admin/admin-error.ts';
import type { AdminResult } from '../server/admin/create-admin-app.ts';
import { createFileFollower } from './follow-files.ts';
import { findRestartSettings, renewWorkerSettings } from './restart-settings.ts';
import type { Serving } from './serving.ts';

export interface ReloadDeps {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The configuration in service. */
  readonly current: () => Config;
  readonly serving: Pick<Serving, 'settingsAtStart' | 'change'>;
  readonly metrics: Pick<Metrics, 'recordReload' | 'setConfig'>;
  readonly clock: Clock;
  /** Then whoever should take it may be gone, which is no failure. */
  readonly isStopping: () => boolean;
}

/** How what runs and what was last read are to each other. */
export interface ConfigState {
  /** false: what was read was refused, and what was read before it is in service. */
  readonly isCurrent: boolean;
  /** Of what was refused. */
  readonly errors: number;
  /** When the configuration in service was read; epoch milliseconds. */
  readonly readAt: number;
}

export interface ReloadReport {
  readonly isApplied: boolean;
  readonly errors: number;
  /** Errors and warnings, each with its place where it has one. */
  readonly messages: readonly string[];
  /** Settings that changed and only count after a restart. */
  readonly needsRestart: readonly string[];
}

export interface Reloader {
  readonly reload: () => Promise<ReloadReport>;
  /** Before the workers are replaced: what new ones bring along needs no other restart. */
  readonly reloadForRestart: () => Promise<ReloadReport>;
  readonly reloadForAdmin: () => Promise<AdminResult>;
  readonly state: () => ConfigState;
  readonly close: () => void;
}

export function createReloader(deps: ReloadDeps): Reloader {
  // One at a time: the last to be asked for is the last to be read, and the one that stays.
  let queue: Promise<unknown> = Promise.resolve();
  /** What the last reload read; null: none was, or it has to be tried again. */
  let lastRead: string | null = null;
  let state: ConfigState = { isCurrent: true, errors: 0, readAt: deps.clock.now() };

  function change(next: ConfigState): void {
    state = next;
    deps.metrics.setConfig(next);
  }

  async function reload(reason: ReloadReason = {}): Promise<ReloadReport> {
    const turn = queue.then(async () => {
      const reloaded = await reloadOnce(deps, reason);
      lastRead = reloaded.read;
      return reloaded;
    });
    queue = turn;
    const report = await turn;
    if (!report.isNews) return report;
    const { isApplied, errors } = report;
    deps.metrics.recordReload(isApplied ? 'applied' : 'refused');
    change({ isCurrent: isApplied, errors, readAt: isApplied ? deps.clock.now() : state.readAt });
    follower.follow();
    return report;
  }

  /** A watcher also sees what a signal or the admin API has just had read: told once is enough. */
  async function reloadChanged(): Promise<void> {
    await reload({ isTold: (read) => read === lastRead });
  }

  const follower = createFileFollower(deps.current, reloadChanged);
  change(state);
  follower.follow();
  return {
    state: () => state,
    reload: async () => await reload(),
    reloadForRestart: async () => await reload({ isForRestart: true }),
    reloadForAdmin: async () => describeReload(await reload()),
    close: follower.close,
  };
}

interface ReloadReason {
  readonly isTold?: (read: string) => boolean;
  readonly isForRestart?: boolean;
}

interface Reloaded extends ReloadReport {
  /** The texts and what was found in them; null: it failed by something else. */
  readonly read: string | null;
  readonly isNews: boolean;
}

/** Never throws: whoever asks, a signal or a watcher, has nowhere to put an error. */
async function reloadOnce(
  deps: ReloadDeps,
  { isTold = () => false, isForRestart = false }: ReloadReason,
): Promise<Reloaded> {
  try {
    const reader = createCopyingReader();
    const { config, diagnostics } = await loadConfig(deps.file, deps.env, reader);
    const messages = diagnostics.map(formatDiagnostic);
    const read = JSON.stringify([reader.copy(), messages]);
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    const refused = { isApplied: false, errors, messages, needsRestart: [], read, isNews: true };
    if (isTold(read)) return { ...refused, isNews: false };
    if (config === null) {
      deps.log.error('reload refused: the old configuration goes on serving', { errors: messages });
      return refused;
    }
    const { settings } = config;
    const atStart = deps.serving.settingsAtStart();
    const kept = isForRestart ? renewWorkerSettings(settings, atStart) : atStart;
    const needsRestart = findRestartSettings(kept, settings);
    await deps.serving.change(config, reader.copy());
    logApplied(config, { messages, needsRestart }, deps.log);
    return { isApplied: true, errors: 0, messages, needsRestart, read, isNews: true };
  } catch (cause) {
    // What a configuration names may be unusable although its text is right: a certificate, say.
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (deps.isStopping()) deps.log.info('not reloaded: the gateway stops', { reason });
    else deps.log.error('reload failed: the old configuration goes on serving', { err: cause });
    const messages = [reason];
    return { isApplied: false, errors: 1, messages, needsRestart: [], read: null, isNews: true };
  }
}

function logApplied(
  { policies }: Config,
  { messages, needsRestart }: Pick<ReloadReport, 'messages' | 'needsRestart'>,
  log: Log,
): void {
  const say = needsRestart.length > 0 ? log.warn : log.info;
  say('reloaded', {
    hosts: policies.hosts.length,
    ...(messages.length > 0 ? { warnings: messages } : {}),
    ...(needsRestart.length > 0 ? { needs_restart: needsRestart } : {}),
  });
}

const NOT_APPLIED = 'the old configuration goes on serving: `diagnostics` say why';

function describeReload({ isApplied, messages, needsRestart }: ReloadReport): AdminResult {
  return {
    status: isApplied ? 200 : 422,
    body: {
      applied: isApplied,
      diagnostics: messages,
      needs_restart: needsRestart,
      ...(isApplied ? null : adminError('not_applied', NOT_APPLIED)),
    },
  };
}

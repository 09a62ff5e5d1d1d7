// What a purge did, in the words of the admin API and of the command's `--json`.
import { parseCacheKey } from '../core/key/cache-key.ts';
import type { PurgeReport } from './purge-pages.ts';

/** The fields are always the same; what was not asked for is null. */
export function formatReport({ selector, ...report }: PurgeReport): Record<string, unknown> {
  const { id, entries, soft, undoes, dryRun } = report;
  return {
    id,
    entries,
    url: selector.kind === 'url' ? selector.url : null,
    pattern: selector.kind === 'pattern' ? selector.pattern : null,
    tag: selector.kind === 'tag' ? selector.tag : null,
    host: hostIdOf(selector),
    all: selector.kind === 'all',
    soft,
    undoes,
    dry_run: dryRun,
  };
}

/** null: the purge was not for one host. */
function hostIdOf(selector: PurgeReport['selector']): number | null {
  switch (selector.kind) {
    case 'url':
      return parseCacheKey(selector.keys[0] ?? '')?.hostId ?? null;
    case 'all':
      return null;
    default:
      return selector.hostId;
  }
}

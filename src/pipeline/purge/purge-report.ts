// What a purge did, or why it did not, in the words of the admin API and of the command.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import type { PurgeError, PurgeReport } from './purge-pages.ts';

/** The published JSON, hence snake_case: always the same fields, null for what was not asked. */
export interface PurgeAnswer {
  readonly id: number | null;
  readonly entries: number;
  readonly newer: number;
  readonly url: string | null;
  readonly pattern: string | null;
  readonly tag: string | null;
  /** Its id. */
  readonly host: number | null;
  readonly all: boolean;
  readonly soft: boolean;
  readonly undoes: number | null;
  readonly dry_run: boolean;
}

export function formatReport({ selector, ...report }: PurgeReport): PurgeAnswer {
  const { id, entries, newer, soft, undoes, dryRun } = report;
  return {
    id,
    entries,
    newer,
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

/** With a message for people beside what it consists of. */
export function formatPurgeError(error: PurgeError): PurgeError & { readonly message: string } {
  return { ...error, message: describePurgeError(error) };
}

const NOT_UNDOABLE = {
  unknown: 'there is no such purge, or it is too long ago',
  hard: 'only a soft purge can be taken back',
  undone: 'it was taken back already',
} as const;

/** One sentence, without a full stop. */
export function describePurgeError(error: PurgeError): string {
  switch (error.kind) {
    case 'invalid_url':
      return `not a URL that could be stored: ${error.error}`;
    case 'invalid_pattern':
      return `not a pattern: ${error.message}`;
    case 'invalid_tag':
      return 'a tag has 1 to 256 printable characters without spaces and commas';
    case 'unknown_host':
      return `this host is not configured: ${JSON.stringify(error.host)}; see hosts.include`;
    case 'not_undoable':
      return NOT_UNDOABLE[error.reason];
    case 'store_unavailable':
      return `the store could not be reached, nothing was purged: ${error.reason}`;
    case 'unfinished':
      return (
        `the store failed after ${error.entries} entries: ${error.reason}; ` +
        'the purge holds for a quarter of an hour, repeat it until then'
      );
  }
}

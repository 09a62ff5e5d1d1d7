// What a purge did, as one line for people: from the answer's own fields, whoever carried it out.
import { fieldsOf, isCount } from '../core/records.ts';
import type { PurgeAnswer } from '../pipeline/purge/purge-report.ts';

/** @param nameHost a host by its id */
export function describePurge(answer: PurgeAnswer, nameHost: (hostId: number) => string): string {
  const { id, entries, newer, soft, undoes } = answer;
  const noun = entries === 1 ? 'entry' : 'entries';
  const undo = soft && undoes === null && id !== null ? ` (take back: --undo ${id})` : '';
  const stay = newer === 0 ? '' : `, ${newer} newer already`;
  const pages = describePages(answer, nameHost);
  return `${entries} ${noun} ${chooseVerb(answer)}${stay}: ${pages}${undo}`;
}

/** Of a gateway that may be another version; null: it is none. */
export function readPurgeAnswer(value: unknown): PurgeAnswer | null {
  const fields = fieldsOf(value);
  const { id = null, entries, newer, host = null, undoes = null } = fields;
  if (!isCount(entries) || !isCount(newer)) return null;
  const text = (name: string): string | null => {
    const field = fields[name];
    return typeof field === 'string' ? field : null;
  };
  return {
    id: isCount(id) ? id : null,
    entries,
    newer,
    url: text('url'),
    pattern: text('pattern'),
    tag: text('tag'),
    host: isCount(host) ? host : null,
    all: fields['all'] === true,
    soft: fields['soft'] === true,
    undoes: isCount(undoes) ? undoes : null,
    dry_run: fields['dry_run'] === true,
  };
}

function chooseVerb({ dry_run: isDryRun, soft, undoes }: PurgeAnswer): string {
  if (undoes !== null) return isDryRun ? 'would be fresh again' : 'fresh again';
  if (isDryRun) return 'would go';
  return soft ? 'marked stale' : 'purged';
}

function describePages(
  { url, pattern, tag, host, all }: PurgeAnswer,
  nameHost: (hostId: number) => string,
): string {
  if (url !== null) return url;
  if (all) return 'all';
  const where = host === null ? [] : [`host ${nameHost(host)}`];
  const what = [
    ...(pattern === null ? [] : [`pattern ${pattern}`]),
    ...(tag === null ? [] : [`tag ${tag}`]),
  ];
  return [...what, ...where].join(' of ');
}

// Which stored URLs are one page under a learned rule: pages that were stored before it was learned
// are found by no request now, and would come back with the rule's end. A purge means them too.
import { matters, parseNoVarySearch, type SearchVariance } from '../http/no-vary-search.ts';
import { decodeForm, toText } from '../url/percent-encoding.ts';
import { addressOf } from './learned-rule.ts';

/**
 * Tells the stored pages that a purged URL means.
 *
 * @param url normalized
 * @param learned a No-Vary-Search value; null: the URL means itself alone
 */
export function compileSamePage(url: string, learned: string | null): (stored: string) => boolean {
  const variance = learned === null ? null : parseNoVarySearch([learned]);
  if (variance === null) return (stored) => stored === url;
  const address = addressOf(url);
  const wanted = reduceQuery(url.slice(address.length), variance);
  return (stored) =>
    stored === url ||
    (addressOf(stored) === address &&
      reduceQuery(stored.slice(address.length), variance) === wanted);
}

/** The query less what doesn't matter; raw spellings that differ may still mean one page. */
function reduceQuery(search: string, variance: SearchVariance): string {
  const pairs = search
    .slice(1)
    .split('&')
    .map((raw) => ({ raw, name: nameOf(raw, true) }))
    // Whichever way the host reads a `+`: rather one page too many goes than one too few.
    .filter(({ raw, name }) => matters(name, variance) && matters(nameOf(raw, false), variance))
    .filter(({ raw }) => raw !== '');
  if (variance.ignoresOrder) {
    pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }
  return pairs.map(({ raw }) => raw).join('&');
}

function nameOf(raw: string, plusIsSpace: boolean): string {
  const equalsAt = raw.indexOf('=');
  return toText(decodeForm(equalsAt === -1 ? raw : raw.slice(0, equalsAt), plusIsSpace));
}

// Our own stripping in the words of No-Vary-Search, for browsers and the caches in front: what they
// may answer from a page that they have under another URL.
import { formatNoVarySearch, type SearchVariance } from '../http/no-vary-search.ts';
import type { EffectivePolicy, StripPolicy } from '../policy/policy.ts';

/** Names are left out beyond this, which costs others a hit and never gives a wrong page. */
const NAMES_CHARS_MAX = 2_048;

type Selection = Pick<SearchVariance, 'mode' | 'names'>;

const NOTHING: Selection = { mode: 'drop', names: new Set() };

/** Made once a policy: every answer says it. */
const announced = new WeakMap<EffectivePolicy, string>();

/** @returns the header's value; null: there is nothing to say */
export function announceStripping(policy: EffectivePolicy): string | null {
  let text = announced.get(policy);
  if (text === undefined) {
    const ignoresOrder = policy.normalization.sortQuery;
    text = formatNoVarySearch({ ignoresOrder, ...selectNames(policy.tracking) });
    announced.set(policy, text);
  }
  return text === '' ? null : text;
}

/**
 * Wildcards and expressions can't be said, nor can long lists. Of names to drop they are left out;
 * of names to keep nothing may be missing, or it would be said not to matter.
 */
function selectNames({ strip, mode, patterns }: StripPolicy): Selection {
  if (!strip) return NOTHING;
  let chars = 0;
  const sayable = patterns
    .map(({ pattern }) => pattern)
    .filter(({ kind, source }) => {
      chars += source.length;
      return kind === 'exact' && chars <= NAMES_CHARS_MAX;
    });
  const names = new Set(sayable.map(({ source }) => source));
  if (mode === 'strip') return { mode: 'drop', names };
  return sayable.length === patterns.length ? { mode: 'keep', names } : NOTHING;
}

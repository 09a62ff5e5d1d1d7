// No-Vary-Search: which parameters of a URL don't matter to its page, in the words of the origin.
// Read as draft-ietf-httpbis-no-vary-search says, in its older spelling (`params, except=(…)`) and
// its newer one (`except=(…)`): whatever is not exactly that says nothing, and costs only hits.
import { decodeForm, encodeBytes, toByteString, toText } from '../url/percent-encoding.ts';
import { type BareItem, type DictionaryMember, parseDictionary } from './structured-dictionary.ts';

export interface SearchVariance {
  /** Whether pairs of different names may be in any order. */
  readonly ignoresOrder: boolean;
  /** `drop`: the names don't matter. `keep`: no other names matter. */
  readonly mode: 'drop' | 'keep';
  /** Decoded; compared exactly. */
  readonly names: ReadonlySet<string>;
}

/** Longest value that is read, over all its lines, and most names in it. */
const VALUE_CHARS_MAX = 4_096;
const NAMES_MAX = 256;

/**
 * Reads the lines of the header.
 *
 * @returns null when every difference matters: nothing was said, or nothing that can be understood
 */
export function parseNoVarySearch(lines: readonly string[]): SearchVariance | null {
  const text = lines.join(', ');
  if (text === '' || text.length > VALUE_CHARS_MAX) return null;
  const members = parseDictionary(text);
  if (members === null) return null;
  const order = members.get('key-order') ?? { kind: 'boolean', value: false };
  const selection = readSelection(members.get('params'), members.get('except'));
  if (order.kind !== 'boolean' || selection === null) return null;
  const { mode, names } = selection;
  const variance = { ignoresOrder: order.value, mode, names };
  const written = formatNoVarySearch(variance);
  // What says nothing, or could not be read back.
  const isUseless = written === '' || written.length > VALUE_CHARS_MAX || names.size > NAMES_MAX;
  return isUseless ? null : variance;
}

/** The value that says this, in the spelling that every reader understands. */
export function formatNoVarySearch({ ignoresOrder, mode, names }: SearchVariance): string {
  const list = `(${[...names].map((name) => `"${encodeName(name)}"`).join(' ')})`;
  const parts = ignoresOrder ? ['key-order'] : [];
  if (mode === 'keep') parts.push(names.size === 0 ? 'params' : `params, except=${list}`);
  else if (names.size > 0) parts.push(`params=${list}`);
  return parts.join(', ');
}

/** Whether a parameter of this decoded name makes another page. */
export function matters(name: string, { mode, names }: SearchVariance): boolean {
  return names.has(name) === (mode === 'keep');
}

type Selection = Pick<SearchVariance, 'mode' | 'names'>;

function readSelection(
  params: DictionaryMember | undefined,
  except: DictionaryMember | undefined,
): Selection | null {
  if (except !== undefined) {
    const isAllowed = params === undefined || (params.kind === 'boolean' && params.value);
    return isAllowed && except.kind === 'list' ? readNames('keep', except.items) : null;
  }
  if (params === undefined) return { mode: 'drop', names: new Set() };
  if (params.kind === 'list') return readNames('drop', params.items);
  if (params.kind !== 'boolean') return null;
  return { mode: params.value ? 'keep' : 'drop', names: new Set() };
}

function readNames(mode: Selection['mode'], items: readonly BareItem[]): Selection | null {
  const names = new Set<string>();
  for (const item of items) {
    if (item.kind !== 'string') return null;
    names.add(toText(decodeForm(item.value, true)));
  }
  return { mode, names };
}

function encodeName(name: string): string {
  return encodeBytes(toByteString(name));
}

// `normalization` of one level.
import type { LocaleRedirect, NormalizationPolicy } from '../../core/policy/policy.ts';
import { encodePathText } from '../../core/url/encode-path.ts';
import { type ConfigNode, descend, entriesOf, reportError } from '../config-node.ts';
import {
  type FieldTable,
  readFields,
  readFlag,
  readList,
  readText,
  readWord,
} from '../read-values.ts';

/** One path segment: anything else could never stand where it is looked for. */
const SEGMENT = /^(?!\.{1,2}$)[^/\\?#\s]+$/;

export const NORMALIZATION_FIELDS: FieldTable<NormalizationPolicy> = {
  sortQuery: ['sort_query', readFlag],
  emptyValues: ['empty_values', readWord('bare', 'equals', 'preserve', 'drop')],
  plus: ['plus', readWord('space', 'literal')],
  encoding: ['encoding', readWord('canonical', 'preserve')],
  collapseSlashes: ['collapse_slashes', readFlag],
  trailingSlash: ['trailing_slash', readWord('preserve', 'add', 'remove')],
  defaultDocuments: ['default_documents', readList(readSegment)],
  defaultValues: ['default_values', readDefaultValues],
  lowercasePath: ['lowercase_path', readFlag],
  www: ['host_aliases.www', readWord('keep', 'strip', 'add')],
  signedUrls: ['signed_urls', readWord('bypass', 'ignore')],
  signedParams: ['signed_params', readList(readName)],
  canonicalRedirect: ['canonical_redirect', readWord('off', 301, 308)],
  localeRedirect: ['locale_redirect', readLocaleRedirect],
  noVarySearch: ['no_vary_search', readWord('off', 'learn', 'emit')],
};

export function readNormalizationBlock(node: ConfigNode | undefined): Partial<NormalizationPolicy> {
  return readFields(node, NORMALIZATION_FIELDS);
}

/** In the encoding of paths, in which it is compared and sent. */
function readSegment(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined) return undefined;
  const encoded = SEGMENT.test(text) ? encodePathText(text) : '';
  if (SEGMENT.test(encoded)) return encoded;
  reportError(node, 'must be one path segment', 'write for example index.html');
  return undefined;
}

function readName(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text !== '') return text;
  reportError(node, 'an empty parameter name');
  return undefined;
}

function readDefaultValues(node: ConfigNode): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, child] of entriesOf(node)) {
    const text = readText(child);
    if (text !== undefined) values.set(name, text);
  }
  return values;
}

function readLocaleRedirect(node: ConfigNode): LocaleRedirect | null | undefined {
  if (node.value === 'off') return null;
  const defaultNode = descend(node, 'default');
  const localesNode = descend(node, 'locales');
  if (defaultNode === undefined || localesNode === undefined) return undefined;
  const fallback = readSegment(defaultNode);
  const locales = readList(readSegment)(localesNode);
  if (fallback === undefined || locales === undefined) return undefined;
  if (!locales.includes(fallback)) {
    reportError(defaultNode, `"${fallback}" is not among the locales`, 'add it to locales');
  }
  return { default: fallback, locales };
}

// The names a configuration may refer to and cannot define: presets of tracking parameters and
// aliases of User-Agents. They come from layer 0.
import type { Pattern } from '../core/pattern/parse-pattern.ts';
import { type ConfigNode, descend, entriesOf, itemsOf, reportError } from './config-node.ts';
import { readPattern, readPatterns } from './read-values.ts';
import { suggestWord } from './suggest-key.ts';

export interface Catalog {
  readonly presets: ReadonlyMap<string, readonly Pattern[]>;
  readonly aliases: ReadonlyMap<string, readonly Pattern[]>;
}

/** Reads `presets` and `bot_aliases` of the built-in files. */
export function readCatalog(roots: readonly ConfigNode[]): Catalog {
  const presets = new Map<string, readonly Pattern[]>();
  const aliases = new Map<string, readonly Pattern[]>();
  for (const root of roots) {
    for (const [name, node] of entriesOf(descend(root, 'presets'))) {
      presets.set(name, readPatterns(node) ?? []);
    }
    // In file order: an alias is made of patterns and of aliases above it, so there is no cycle.
    for (const [name, node] of entriesOf(descend(root, 'bot_aliases'))) {
      aliases.set(name, expandAliases(node, { presets, aliases }));
    }
  }
  return { presets, aliases };
}

/** Reads a `match_ua` list: patterns, and `$Alias` for a named list of them. */
export function expandAliases(node: ConfigNode, catalog: Catalog): readonly Pattern[] {
  return itemsOf(node).flatMap((item) => {
    if (typeof item.value === 'string' && item.value.startsWith('$')) {
      return lookUp(item, item.value.slice(1), catalog.aliases, 'alias');
    }
    const pattern = readPattern(item);
    return pattern === undefined ? [] : [pattern];
  });
}

/** Reads a `presets` list of names. */
export function expandPresets(node: ConfigNode, catalog: Catalog): readonly Pattern[] {
  return itemsOf(node).flatMap((item) =>
    typeof item.value === 'string' ? lookUp(item, item.value, catalog.presets, 'preset') : [],
  );
}

function lookUp(
  node: ConfigNode,
  name: string,
  known: ReadonlyMap<string, readonly Pattern[]>,
  kind: 'alias' | 'preset',
): readonly Pattern[] {
  const patterns = known.get(name);
  if (patterns !== undefined) return patterns;
  const names = [...known.keys()];
  const near = suggestWord(name, names);
  reportError(
    node,
    `unknown ${kind} "${name}"`,
    near === null ? `known: ${names.join(', ')}` : `did you mean "${near}"?`,
  );
  return [];
}

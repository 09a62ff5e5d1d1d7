// The table of known crawlers that ships with the gateway, read once. A mistake in it is a defect
// of the package and throws.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  CRAWLER_KINDS,
  type Crawler,
  type CrawlerGroup,
  type CrawlerTable,
  type RangeSource,
} from '../core/bots/crawlers.ts';
import { type ConfigNode, childOf, descend, entriesOf, itemsOf, rootOf } from './config-node.ts';
import { createProblems, formatDiagnostic } from './diagnostic.ts';
import { parseYaml } from './parse-yaml.ts';
import { readAt, readList, readPatterns, readText, readWord } from './read-values.ts';
import { ownersFileSchema } from './schema/crawlers.ts';
import { compileShape } from './validate-shape.ts';

/** The same from src/config and from dist/config. */
const FOLDER = new URL('../../config/bots/', import.meta.url);

/** Address lists that ship with the gateway. */
export const SHIPPED_RANGES_FOLDER = fileURLToPath(new URL('ranges/', FOLDER));

let known: CrawlerTable | undefined;

/** Reads config/bots/owners.yaml. */
export function readCrawlers(): CrawlerTable {
  known ??= readTable(readFileSync(new URL('owners.yaml', FOLDER), 'utf8'));
  return known;
}

/** @throws when the text is not a table of crawlers */
export function readTable(text: string): CrawlerTable {
  const problems = createProblems();
  const document = parseYaml(text, 'config/bots/owners.yaml', problems);
  compileShape(ownersFileSchema, {})(document);
  const root = rootOf(document);
  const crawlers = entriesOf(childOf(root, 'owners')).map(([name, node]) => readOwner(name, node));
  const table: CrawlerTable = {
    checkedOn: readAt(root, 'checked', readText) ?? '',
    groups: crawlers.map(({ group }) => group),
    crawlers: crawlers.flatMap(({ members }) => members),
    robotsOnly: readAt(root, 'robots_only', readList(readText)) ?? [],
  };
  const [first] = problems.list();
  if (first !== undefined) throw new Error(formatDiagnostic(first));
  return table;
}

interface Owner {
  readonly group: CrawlerGroup;
  readonly members: readonly Crawler[];
}

function readOwner(name: string, node: ConfigNode): Owner {
  const group: CrawlerGroup = {
    name,
    lists: itemsOf(childOf(node, 'lists')).map(readSource),
    listDomains: readAt(node, 'list_domains', readList(readText)) ?? [],
    hostNames: readAt(node, 'host_names', readPatterns) ?? [],
  };
  const members = CRAWLER_KINDS.flatMap((kind) =>
    (readAt(descend(node, 'crawlers'), kind, readList(readText)) ?? []).map((token) => ({
      token,
      kind,
      group,
    })),
  );
  return { group, members };
}

function readSource(node: ConfigNode): RangeSource {
  return {
    name: readAt(node, 'name', readText) ?? '',
    url: readAt(node, 'url', readText) ?? '',
    format: readAt(node, 'format', readWord('prefixes', 'lines')) ?? 'prefixes',
  };
}

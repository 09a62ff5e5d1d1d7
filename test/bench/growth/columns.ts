// What grows in each column of the bench, and the configuration that makes it so.
import { benchHost, type GatewayFiles, type Setting } from '../http/contenders.ts';

export interface Column {
  readonly name: string;
  readonly hosts: number;
  /** Of the host that is asked for. */
  readonly rules: number;
  /** In the store, beside the one that is asked for. */
  readonly pages: number;
  /** Open and silent, beside those that ask. */
  readonly idleConnections: number;
}

/** What the others are compared with. */
export const FIRST: Column = {
  name: 'one of each',
  hosts: 1,
  rules: 1,
  pages: 0,
  idleConnections: 0,
};

export const CONFIGURED: readonly Column[] = [
  { ...FIRST, name: '10,000 hosts', hosts: 10_000 },
  { ...FIRST, name: '1,000 rules', rules: 1_000 },
  { ...FIRST, name: '5,000 connections', idleConnections: 5_000 },
];

/** Few and many. */
export function storedColumns(pagesMax: number): readonly [Column, Column] {
  const columnOf = (pages: number): Column => ({
    ...FIRST,
    name: `${pages.toLocaleString('en')} pages`,
    pages,
  });
  return [columnOf(1_000), columnOf(pagesMax)];
}

/** The host that is asked for comes last, and so does the rule that its page matches. */
export function describeColumn({ name, hosts, rules }: Column, setting: Setting): GatewayFiles {
  const before = Array.from({ length: hosts - 1 }, (_, i) => otherHost(i, setting));
  const ourRules = [...Array.from({ length: rules - 1 }, (_, i) => otherMatch(i)), '/2*'];
  const lines = ourRules.map((match) => `      - {match: "${match}", ${RULE_POLICY}}\n`);
  return {
    name: name.replaceAll(/\W+/g, '-'),
    hosts: `hosts:\n${before.join('')}${benchHost(setting)}    url_rules:\n${lines.join('')}`,
  };
}

const RULE_POLICY = 'render: {cache: {ttl: 2h}}';

function otherHost(i: number, { sitePort }: Setting): string {
  return `  - {id: ${i + 2}, domain: shop-${i}.test, origin: "http://127.0.0.1:${sitePort}"}\n`;
}

/** Seven of ten are wildcards, two are exact, one is an expression. */
function otherMatch(i: number): string {
  const kind = i % 10;
  if (kind === 0) return `~^/archive-${i}/[0-9]+$`;
  return kind < 3 ? `/about-${i}` : `/section-${i}/*`;
}

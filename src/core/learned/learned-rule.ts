// What an origin's No-Vary-Search has taught about one path of a host: its parameters that don't
// matter are left out of the key. Kept in the store, so that every process makes the same keys.
import { parseNoVarySearch, type SearchVariance } from '../http/no-vary-search.ts';
import { parseRecord } from '../records.ts';

export interface LearnedRule {
  readonly hostId: number;
  /** The normalized URL without its query: what the rule is for. */
  readonly address: string;
  /** The header's value in one spelling. */
  readonly header: string;
  readonly variance: SearchVariance;
  /** The normalized URL whose answer had the header. */
  readonly from: string;
  /** When it was last said, epoch milliseconds; about, since that is not written every time. */
  readonly at: number;
}

/** Every rule there is, by `learnedName`. */
export type LearnedTable = ReadonlyMap<string, LearnedRule>;

/** Finds the rule of an address on one host. */
export type FindLearned = (address: string) => LearnedRule | null;

/** Most paths of one host that are remembered. */
export const LEARNED_PATHS_MAX = 1_000;

/** A rule said again in this time keeps its place, or paths in turn would lose their pages. */
export const LEARNED_KEEP_MS = 86_400_000;

/** Longer addresses are not learned; also what a key of the embedded store can hold. */
export const LEARNED_ADDRESS_CHARS_MAX = 1_024;

const NAME = /^([1-9]\d{0,9}) (https?:\/\/[\x21-\x7e]+)$/;
/** Longest text of a rule that is read at all: a URL, a header, and what is around them. */
const RULE_CHARS_MAX = 16_384;

/** What a rule is kept under. */
export function learnedName(hostId: number, address: string): string {
  return `${hostId} ${address}`;
}

/** The part of a normalized URL that a rule is for. */
export function addressOf(url: string): string {
  const queryAt = url.indexOf('?');
  return queryAt === -1 ? url : url.slice(0, queryAt);
}

/** What is written under the name. */
export function encodeLearned({ header, from, at }: LearnedRule): string {
  return JSON.stringify({ header, from, at });
}

/** Reads what a store holds under a name; null for anything that was not written by us. */
export function decodeLearned(name: string, text: string): LearnedRule | null {
  const [, hostId, address] = NAME.exec(name) ?? [];
  if (hostId === undefined || address === undefined || text.length > RULE_CHARS_MAX) return null;
  const { header, from, at } = parseRecord(text) ?? {};
  if (typeof header !== 'string' || typeof from !== 'string' || !isInstant(at)) return null;
  const variance = parseNoVarySearch([header]);
  return variance && { hostId: Number(hostId), address, header, variance, from, at };
}

/**
 * Finds room for a rule.
 *
 * @returns the names that go for it: the oldest of its host, long unsaid; null: there is no room
 */
export function findRoom(table: LearnedTable, added: LearnedRule): readonly string[] | null {
  const name = learnedName(added.hostId, added.address);
  const others = [...table].filter(([key, { hostId }]) => hostId === added.hostId && key !== name);
  const leaving = others
    .toSorted(([, a], [, b]) => a.at - b.at)
    .slice(0, Math.max(0, others.length + 1 - LEARNED_PATHS_MAX));
  const isRoom = leaving.every(([, { at }]) => at < added.at - LEARNED_KEEP_MS);
  return isRoom ? leaving.map(([key]) => key) : null;
}

/** Epoch milliseconds that a date can be made of. */
function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 8.64e15;
}

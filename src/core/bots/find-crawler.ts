// Which crawler a User-Agent names. Tokens, not substrings: a name counts only where it stands
// alone, so that apps and devices whose names contain one stay people. Of several names the first
// is meant ("TelegramBot (like TwitterBot)"), of several at one place the longest.
import { LIMITS } from '../limits.ts';
import type { Crawler } from './crawlers.ts';

export interface CrawlerIndex {
  readonly find: (userAgent: string) => Crawler | null;
}

interface Token {
  readonly crawler: Crawler;
  readonly text: string;
  /** `^name`: only at the start. */
  readonly isAnchored: boolean;
  /** `name*`: whatever follows, such as the members an owner adds with a hyphen. */
  readonly isOpen: boolean;
  /** With a slash inside: part of an address in a comment, wherever it stands. */
  readonly isEvidence: boolean;
}

const BEFORE = new Set([' ', '(', ';', '+']);
const AFTER = new Set(['/', ';', ')', ',', ' ']);

/** Remembered User-Agents; when full, all are forgotten at once. */
const MEMO_MAX = 4_096;
/** Longer ones are searched anew, so that hostile texts cannot fill the memory. */
const MEMO_CHARS_MAX = 256;

/** Builds the look-up of one table. */
export function indexCrawlers(crawlers: readonly Crawler[]): CrawlerIndex {
  const tokens = crawlers.map(readToken);
  const memo = new Map<string, Crawler | null>();
  return {
    find: (userAgent) => {
      const known = memo.get(userAgent);
      if (known !== undefined) return known;
      const found = search(tokens, userAgent.slice(0, LIMITS.userAgentCharsMax).toLowerCase());
      if (userAgent.length > MEMO_CHARS_MAX) return found;
      if (memo.size >= MEMO_MAX) memo.clear();
      memo.set(userAgent, found);
      return found;
    },
  };
}

function readToken(crawler: Crawler): Token {
  const { token } = crawler;
  const isAnchored = token.startsWith('^');
  const isOpen = token.endsWith('*');
  const text = token.slice(isAnchored ? 1 : 0, isOpen ? -1 : undefined).toLowerCase();
  return { crawler, text, isAnchored, isOpen, isEvidence: text.includes('/') };
}

function search(tokens: readonly Token[], userAgent: string): Crawler | null {
  let best: { readonly token: Token; readonly at: number } | null = null;
  for (const token of tokens) {
    const at = findToken(token, userAgent);
    if (at === -1) continue;
    const isBetter =
      best === null ||
      at < best.at ||
      (at === best.at && token.text.length > best.token.text.length);
    if (isBetter) best = { token, at };
  }
  return best?.token.crawler ?? null;
}

/** Where a token stands alone, or -1. */
function findToken(token: Token, userAgent: string): number {
  const { text, isAnchored, isOpen, isEvidence } = token;
  for (let at = userAgent.indexOf(text); at !== -1; at = userAgent.indexOf(text, at + 1)) {
    if (isAnchored && at > 0) return -1;
    const before = userAgent[at - 1];
    const after = userAgent[at + text.length];
    const startsWell = isEvidence || before === undefined || BEFORE.has(before);
    const endsWell = isEvidence || isOpen || after === undefined || AFTER.has(after);
    if (startsWell && endsWell) return at;
  }
  return -1;
}

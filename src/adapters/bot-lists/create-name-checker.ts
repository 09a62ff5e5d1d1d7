// Forward-confirmed reverse DNS: the address has a name that its owner promises, and that name has
// the address. Either alone proves nothing: whoever owns an address may give it any name.
import { Resolver } from 'node:dns/promises';
import { isSameAddress, parseIpAddress, reverseName } from '../../core/bots/ip-address.ts';
import type { Pattern } from '../../core/pattern/parse-pattern.ts';
import type { NameCheck, NameChecker } from '../../pipeline/ports.ts';

export interface NameCheckerOptions {
  /** `address:port` of name servers; absent: the system's. */
  readonly nameServers?: readonly string[];
  /** Of one question; a silent server is asked twice. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** An address may have any number of names; owners give theirs one. */
const NAMES_MAX = 8;

/** Codes by which DNS says that there is nothing, which is an answer. */
const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** Makes a checker; `close` ends open questions. */
export function createNameChecker(options: NameCheckerOptions = {}): NameChecker {
  const resolver = new Resolver({ timeout: options.timeoutMs ?? TIMEOUT_MS, tries: TRIES });
  if (options.nameServers !== undefined) resolver.setServers([...options.nameServers]);
  return {
    check: async (address, patterns) => await check(resolver, address, patterns),
    close: () => resolver.cancel(),
  };
}

async function check(
  resolver: Resolver,
  address: string,
  patterns: readonly Pattern[],
): Promise<NameCheck> {
  const ip = parseIpAddress(address);
  if (ip === null) return 'failed';
  // Not `resolver.reverse`: it looks into the hosts file after a silent server, and says "no name".
  const names = await ask(resolver.resolvePtr(reverseName(ip)));
  if (names === null) return 'failed';
  const promised = names
    .slice(0, NAMES_MAX)
    .map((name) => name.toLowerCase().replace(/\.$/, ''))
    .filter((name) => patterns.some((pattern) => pattern.matches(name, name)));
  let result: NameCheck = 'refuted';
  for (const name of promised) {
    const addresses = await ask(
      ip.bits === 128 ? resolver.resolve6(name) : resolver.resolve4(name),
    );
    if (addresses?.some((one) => isSameAddress(one, address))) return 'confirmed';
    if (addresses === null) result = 'failed';
  }
  return result;
}

/** null: no answer. What does not exist is an empty answer. */
async function ask(question: Promise<readonly string[]>): Promise<readonly string[] | null> {
  try {
    return await question;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return ABSENT.has(code) ? [] : null;
  }
}

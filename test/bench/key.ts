// npm run bench:key: what a key costs, from the text of a URL to its hash, every URL for the first
// time. The same rules by npm normalize-url and by WHATWG URL + URLSearchParams beside it, one round
// of each after the other, since only ratios of neighbours mean much on a shared machine.
import { cpus, loadavg } from 'node:os';
import type { PolicySet } from '../../src/core/policy/policy.ts';
import { loadBuilt } from './built.ts';
import { CLIENTS, HOST_FILES } from './key-host.ts';
import { type Contender, createRivals } from './key-rivals.ts';
import { makeLong, makeMix, makePatterns, makeUrls, type UrlKind } from './key-urls.ts';
import { median } from './report.ts';

const ROUNDS = 7;
const URLS = 20_000;
const REMEMBERED = 1_000;
const KINDS: readonly UrlKind[] = ['usual', 'plain', 'encoded', 'many', 'odd'];
const LONG = [
  ['40 parameters', makeLong(40, 3)],
  ['400 parameters', makeLong(400, 3)],
  ['1,000 parameters', makeLong(1_000, 2)],
  ['8 KB in one', makeLong(1, 8_100)],
] as const;

const OURS = 'decide';

async function createContenders(): Promise<readonly Contender[]> {
  const {
    createDecider,
    createHasher,
    createNormalizer,
    compileNormalization,
    loadDefaults,
    LIMITS,
  } = await loadBuilt();
  const hasher = await createHasher();
  const decide = (list: readonly string[] | null): Contender['key'] => {
    const options = list === null ? {} : { tracking_params: { params: list } };
    const compiled = compileNormalization({ global: options });
    if (!compiled.ok) throw new Error(compiled.error.join('\n'));
    const limits = { urlBytesMax: LIMITS.urlBytesMax, paramsMax: LIMITS.paramsMax };
    const global = { ...loadDefaults().global, ...compiled.value };
    const decider = createDecider({ limits, global, hosts: [] }, hasher.text);
    return (url) => {
      const request = { url, method: 'GET', userAgent: '', hasAuthorization: false };
      const decision = decider.decide(request, null);
      return decision.error === null ? decision.hash : decision.error;
    };
  };
  const normalizer = await createNormalizer();
  const library: Contender['key'] = (url) => {
    const result = normalizer.normalize(url);
    return result.ok ? result.hash : result.error;
  };
  return [
    { name: OURS, key: decide(null) },
    { name: 'decide, 500 patterns', key: decide(makePatterns(500)) },
    { name: 'library, with its trace', key: library },
    ...createRivals(namesOf(loadDefaults()), hasher.text),
  ];
}

/** Ours, and the same with the memo that the gateway has in front of it. */
async function createRemembering([ours]: readonly Contender[]): Promise<readonly Contender[]> {
  if (ours === undefined) return [];
  const { createRecentMap } = await loadBuilt();
  const known = createRecentMap<string>(REMEMBERED);
  const key = (url: string): string => {
    const found = known.get(url);
    if (found !== undefined) return found;
    const made = ours.key(url);
    known.set(url, made);
    return made;
  };
  return [ours, { name: 'decide, remembered', key }];
}

function namesOf({ global }: PolicySet): readonly string[] {
  return global.tracking.patterns.map(({ pattern }) => pattern.source);
}

/** Microseconds of processor time a URL: others on the machine take only the time on the wall. */
function measure({ key }: Contender, urls: readonly string[]): number {
  const startedAt = process.cpuUsage();
  for (const url of urls) key(url);
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / urls.length;
}

/** Medians by contender, rounds interleaved. */
function race(contenders: readonly Contender[], urls: readonly string[]): readonly number[] {
  const times = contenders.map((): number[] => []);
  // The first round is for the compiler alone.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [place, contender] of contenders.entries()) {
      const time = measure(contender, urls);
      if (round > 0) times[place]?.push(time);
    }
  }
  return times.map(median);
}

/** In percent: how many of the keys are ours. */
function countAgreeing(contenders: readonly Contender[], urls: readonly string[]): number[] {
  const own = urls.map((url) => contenders[0]?.key(url));
  return contenders.map(({ key }) => {
    const agreeing = urls.filter((url, place) => key(url) === own[place]);
    return (agreeing.length * 100) / urls.length;
  });
}

function compare(title: string, contenders: readonly Contender[], urls: readonly string[]): void {
  const times = race(contenders, urls);
  const agreeing = countAgreeing(contenders, urls);
  process.stdout.write(`\n${title}\n`);
  const ours = times[0] ?? Number.NaN;
  for (const [place, { name }] of contenders.entries()) {
    const time = times[place] ?? Number.NaN;
    const cells = [
      name.padEnd(26),
      time.toFixed(2).padStart(9),
      (time / ours).toFixed(2).padStart(8),
      `${(agreeing[place] ?? 0).toFixed(0)} %`.padStart(8),
    ];
    process.stdout.write(`${cells.join('')}\n`);
  }
}

/** The whole decision, as the gateway makes it for every request. */
async function createHostContenders(): Promise<readonly Contender[]> {
  const { createDecider, createHasher, loadConfig } = await loadBuilt();
  const hasher = await createHasher();
  const { config, diagnostics } = await loadConfig('edge-gateway.yaml', {}, HOST_FILES);
  if (config === null) throw new Error(JSON.stringify(diagnostics));
  const decider = createDecider(config.policies, hasher.text);
  return CLIENTS.map(([name, userAgent]) => ({
    name,
    key: (url) => {
      const request = { url, method: 'GET', userAgent, hasAuthorization: false };
      const decision = decider.decide(request, null);
      return decision.error === null ? decision.hash : decision.error;
    },
  }));
}

function again(urls: readonly string[], times: number): readonly string[] {
  return Array.from({ length: times }, () => urls).flat();
}

function printLong(contenders: readonly Contender[]): void {
  process.stdout.write('\nlong URLs: microseconds a URL, nanoseconds a byte\n');
  for (const [name, url] of LONG) {
    const [time = Number.NaN] = race(
      contenders,
      Array.from({ length: 200 }, () => url),
    );
    const perByte = ((time * 1_000) / url.length).toFixed(1);
    process.stdout.write(
      `${name.padEnd(26)}${time.toFixed(1).padStart(9)}${perByte.padStart(8)}\n`,
    );
  }
}

function describeLoad(): string {
  return `load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`;
}

process.stdout.write(`microseconds a URL, times "${OURS}", keys that are the same as ours;
medians of ${ROUNDS} rounds. No URL is remembered; names of parameters and hosts are.
${describeLoad()}
`);
const contenders = await createContenders();
compare(`the mix, ${URLS} URLs`, contenders, makeMix(URLS));
for (const kind of KINDS) compare(kind, contenders, makeUrls(kind, URLS / 4));
const onHost = await createHostContenders();
compare(
  'on a host with 3 dimensions and 20 rules, usual URLs',
  onHost,
  makeUrls('usual', URLS / 4),
);
compare(
  `${REMEMBERED} usual URLs again and again, as behind the gateway's memo`,
  await createRemembering(contenders),
  again(makeUrls('usual', REMEMBERED), URLS / REMEMBERED),
);
printLong(contenders.slice(0, 1));
process.stdout.write(`\n${describeLoad()}\n`);

// `npm run bench:render`: how many pages a minute of processor time our render service makes from
// the zoo, beside npm's prerender on the same Chromium, in the same run, in turns.
import { findChromium } from '../../src/renderer/browser/find-chromium.ts';
import { openZoo } from '../page-zoo/zoo.ts';
import { BENCH_PAGES, BENCH_ZOO } from './bench-pages.ts';
import { type Contender, startEdgeGateway, startPrerender } from './renderers.ts';
import { formatTable, type Results, type Round } from './report.ts';
import { runRound } from './run-round.ts';

const ROUNDS = 7;
const TABS = 2;
/** No round begins later than this. */
const TIME_MAX_MS = 240_000;

const startedAt = performance.now();
const executable = findChromium(null);
if (!executable.ok) throw new Error(executable.error);
const zoo = await openZoo(BENCH_ZOO);
const running: Contender[] = [];
process.once('SIGINT', () => void stopAll().then(() => process.exit(130)));
try {
  const setting = { origin: zoo.url, executablePath: executable.value, tabs: TABS };
  const ours = await start(startEdgeGateway(setting));
  const theirs = await start(startPrerender(setting));
  const results = await runRounds([ours, theirs]);
  console.log(`\n${BENCH_PAGES.length} pages, ${TABS} at a time\n`);
  console.log(formatTable(...results));
} finally {
  await stopAll();
}

async function start(starting: Promise<Contender>): Promise<Contender> {
  const contender = await starting;
  running.push(contender);
  return contender;
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((contender) => contender.stop()));
  await zoo.close();
}

/** Rounds in turns; who begins changes, so that a machine that slows down wrongs nobody. */
async function runRounds(pair: readonly [Contender, Contender]): Promise<[Results, Results]> {
  const plan = { origin: zoo.url, pages: BENCH_PAGES, tabs: TABS };
  // The first pages of a fresh browser are slower for both; nobody runs a service for them.
  for (const contender of pair) await runRound(contender, plan);
  const rounds = new Map<Contender, Round[]>(pair.map((contender) => [contender, []]));
  for (let index = 0; index < ROUNDS; index += 1) {
    if (performance.now() - startedAt > TIME_MAX_MS) break;
    for (const contender of index % 2 === 0 ? pair : [...pair].reverse()) {
      const round = await runRound(contender, plan);
      rounds.get(contender)?.push(round);
      console.log(describeRound(contender, round, index));
    }
  }
  const gather = (contender: Contender): Results => ({
    name: contender.name,
    rounds: rounds.get(contender) ?? [],
  });
  return [gather(pair[0]), gather(pair[1])];
}

function describeRound({ name }: Contender, round: Round, index: number): string {
  const { wallSeconds, cpuSeconds, latenciesMs, wrong } = round;
  const times = `${wallSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor`;
  const lacking = wrong.length === 0 ? '' : `, wrong: ${wrong.join(' ')}`;
  return `round ${index + 1} ${name}: ${latenciesMs.length} pages in ${times}${lacking}`;
}

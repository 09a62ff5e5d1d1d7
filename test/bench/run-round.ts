// One round of the bench: every page once, so many at a time, and what that cost.
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchPage } from './bench-pages.ts';
import { cpuSeconds, memoryBytes } from './process-tree.ts';
import type { Contender } from './renderers.ts';
import type { Round } from './report.ts';

/** Tabs are closed behind the answer, which is work of the round too. */
const SETTLE_MS = 500;
const MEMORY_SAMPLE_MS = 250;

export interface RoundPlan {
  readonly origin: string;
  readonly pages: readonly BenchPage[];
  readonly tabs: number;
}

/** Runs it; pages that lack their text are named in `wrong` and do not count. */
export async function runRound(
  contender: Contender,
  { origin, pages, tabs }: RoundPlan,
): Promise<Round> {
  const cpuBefore = cpuSeconds(contender.pid);
  const queue = [...pages];
  const latenciesMs: number[] = [];
  const wrong: string[] = [];
  let peakBytes = memoryBytes(contender.pid);
  const sampler = setInterval(() => {
    peakBytes = Math.max(peakBytes, memoryBytes(contender.pid));
  }, MEMORY_SAMPLE_MS);

  const work = async (): Promise<void> => {
    for (let page = queue.shift(); page !== undefined; page = queue.shift()) {
      const startedAt = performance.now();
      const html = await contender.render(origin + page.path).catch(String);
      if (html.includes(page.text)) latenciesMs.push(performance.now() - startedAt);
      else wrong.push(page.path);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: tabs }, work));
  const wallSeconds = (performance.now() - startedAt) / 1_000;
  await wait(SETTLE_MS);
  clearInterval(sampler);
  return {
    wallSeconds,
    cpuSeconds: cpuSeconds(contender.pid) - cpuBefore,
    latenciesMs,
    wrong,
    peakBytes,
  };
}

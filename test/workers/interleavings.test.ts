// Restarts, reloads and kills in each other's way: whatever comes when, in the end as many workers
// serve as there should be, no process is left over, and only what somebody killed is an error.
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAlive } from '../helpers/is-alive.ts';
import { ask, page } from '../scenario/stage.ts';
import {
  type AdminAnswer,
  childrenOf,
  countLines,
  startWorkerGateway,
  untilTrue,
  type WorkerGateway,
} from './worker-gateway.ts';

const WORKERS = 2;
const TIMEOUT_MS = 240_000;
/** Less than a silent connection to the admin listener may stay open. */
const STOP_TIMEOUT_MS = 60_000;

type Deed = 'restart' | 'reload' | 'kill new' | 'kill old';
/** Until a new one is forked, serves, or has let an old one go. */
type Wait = 'fork' | 'serve' | 'left';
type Step = Deed | Wait;

interface Run {
  readonly gateway: WorkerGateway;
  /** Processes before the last restart. */
  old: readonly number[];
  /** Old ones that had left by then. */
  left: number;
  readonly restarts: Promise<AdminAnswer>[];
  readonly reloads: Promise<AdminAnswer>[];
}

test.each<{ readonly steps: readonly Step[] }>([
  { steps: ['restart', 'fork', 'reload'] },
  { steps: ['restart', 'serve', 'reload', 'left', 'reload'] },
  { steps: ['reload', 'restart', 'reload', 'fork', 'reload', 'restart'] },
])(
  '$steps: nothing is an error',
  async ({ steps }) => {
    const { gateway, statuses } = await act(steps);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(gateway.log.filter(({ level }) => level === 'error')).toEqual([]);
  },
  TIMEOUT_MS,
);

test.each<{ readonly steps: readonly Step[]; readonly restarted: number }>([
  { steps: ['restart', 'left', 'kill new'], restarted: 200 },
  { steps: ['restart', 'serve', 'kill new', 'reload', 'kill new'], restarted: 200 },
  { steps: ['restart', 'fork', 'kill old', 'reload'], restarted: 200 },
  { steps: ['restart', 'fork', 'kill new', 'reload'], restarted: 409 },
])(
  '$steps: what was killed is replaced',
  async ({ steps, restarted }) => {
    const { statuses } = await act(steps);
    expect(statuses[0]).toBe(restarted);
  },
  TIMEOUT_MS,
);

const ANY_DEED = fc.constantFrom<Deed>('restart', 'reload', 'kill new', 'kill old');
const ANY_MOMENT_MS = fc.integer({ min: 0, max: 900 });
const ANY_RUN = fc.record({
  deeds: fc.array(fc.tuple(ANY_DEED, ANY_MOMENT_MS), { minLength: 4, maxLength: 6 }),
});

test.each(fc.sample(ANY_RUN, { seed: 7, numRuns: 4 }))(
  '$deeds, at any moment',
  async ({ deeds }) => {
    const run = await start();
    await doIt('restart', run);
    for (const [deed, momentMs] of deeds) {
      // Not to wait for something: moments are what this is about.
      await wait(momentMs);
      await doIt(deed, run);
    }
    await settle(run);
  },
  TIMEOUT_MS,
);

test.each<{ readonly steps: readonly Step[] }>([
  { steps: ['restart', 'fork'] },
  { steps: ['restart', 'serve', 'reload'] },
  { steps: ['kill old', 'fork'] },
])(
  'SIGTERM after $steps: all end, and that is no error',
  async ({ steps }) => {
    const run = await start();
    const { gateway } = run;
    for (const step of steps) await doIt(step, run);
    const pids = await childrenOf(gateway);
    const { length } = gateway.log;
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    const later = gateway.log.slice(length);
    expect(later.filter(({ level }) => level === 'error')).toEqual([]);
    expect(countLines(later, 'restarted')).toBe(0);
    expect(gateway.complaints()).toBe('');
  },
  STOP_TIMEOUT_MS,
);

async function act(
  steps: readonly Step[],
): Promise<{ readonly gateway: WorkerGateway; readonly statuses: readonly number[] }> {
  const run = await start();
  for (const step of steps) await doIt(step, run);
  return { gateway: run.gateway, statuses: await settle(run) };
}

async function start(): Promise<Run> {
  const gateway = await startWorkerGateway({ workers: WORKERS, origin: () => page('a page') });
  const old = [...gateway.workers().values()];
  return { gateway, old, left: 0, restarts: [], reloads: [] };
}

/** Everything asked for has been answered: what serves now is what remains. */
async function settle({ gateway, restarts, reloads }: Run): Promise<readonly number[]> {
  const answers = await Promise.all([...restarts, ...reloads]);
  await untilTrue(`${WORKERS} workers serve, and no other process is there`, async () => {
    const serving = [...gateway.workers().values()];
    const children = await childrenOf(gateway);
    return children.length === WORKERS && children.every((pid) => serving.includes(pid));
  });
  expect(await gateway.metric('edge_gateway_workers')).toBe(WORKERS);
  expect((await ask(gateway.port, '/')).status).toBe(200);
  return answers.map(({ status }) => status);
}

async function doIt(step: Step, run: Run): Promise<void> {
  const { gateway, restarts, reloads } = run;
  switch (step) {
    case 'restart':
      run.old = await childrenOf(gateway);
      run.left = countStopped(gateway);
      restarts.push(gateway.admin('/restart', 'POST'));
      return;
    case 'reload':
      reloads.push(gateway.admin('/reload', 'POST'));
      return;
    case 'kill new':
      return kill((await childrenOf(gateway)).find((pid) => !run.old.includes(pid)));
    case 'kill old':
      return kill((await childrenOf(gateway)).find((pid) => run.old.includes(pid)));
    case 'fork':
      return await untilTrue('one is forked', () => hasForked(run));
    case 'serve':
      return await untilTrue('a new one serves', () =>
        [...gateway.workers().values()].some((pid) => !run.old.includes(pid)),
      );
    case 'left':
      return await untilTrue('an old one has left', () => countStopped(gateway) > run.left);
  }
}

/** None is there, or it is gone already: then nothing is killed. */
function kill(pid: number | undefined): void {
  if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
}

async function hasForked({ gateway, old }: Run): Promise<boolean> {
  return (await childrenOf(gateway)).some((pid) => !old.includes(pid));
}

function countStopped({ log }: WorkerGateway): number {
  return log.filter(({ kind }) => kind === 'worker_stopped').length;
}

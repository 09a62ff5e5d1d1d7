// The life of the gateway's own render service, with a program in its place that only lives and
// dies: what is told of it, who may wait for it, that it comes back.
import process from 'node:process';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import {
  type RendererEvent,
  type RendererProcess,
  superviseRenderer,
} from '../../src/adapters/renderer-process/supervise-renderer.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PRETENDER = new URL('./fixtures/pretend-service.ts', import.meta.url).pathname;
const WAIT_MS = 20_000;
const TIMEOUT = { timeout: 60_000 };
const READY = { state: 'done', value: undefined };

interface Supervised {
  readonly renderer: RendererProcess;
  readonly events: readonly RendererEvent[];
  readonly output: () => string;
}

function supervise(command: readonly [string, ...string[]]): Supervised {
  const events: RendererEvent[] = [];
  let text = '';
  const renderer = superviseRenderer({
    command,
    socketPath: '/nowhere/unused.sock',
    env: process.env,
    output: new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        text += chunk.toString('utf8');
        done();
      },
    }),
    onEvent: (event) => events.push(event),
  });
  onTestFinished(renderer.close);
  return { renderer, events, output: () => text };
}

const run = (deed: string): Supervised =>
  supervise([process.execPath, '--import', import.meta.resolve('tsx'), PRETENDER, deed]);

const pidOf = (event: RendererEvent | undefined): number =>
  event?.kind === 'renderer_started' ? (event.pid ?? 0) : 0;

test('it is waited for while it starts, and again when it is killed', TIMEOUT, async () => {
  const { renderer, events } = run('serves');
  expect(await renderer.untilReady(0)).toMatchObject({ reason: 'renderer_starting' });
  expect(await renderer.untilReady(WAIT_MS)).toEqual(READY);
  const pid = pidOf(events[0]);
  process.kill(pid, 'SIGKILL');
  await waitUntil('its end is noticed', () => events.length > 2);
  expect(events[2]).toEqual({
    kind: 'renderer_ended',
    code: null,
    signal: 'SIGKILL',
    reason: null,
    wasReady: true,
    restartMs: 500,
  });
  expect(await renderer.untilReady(WAIT_MS)).toEqual(READY);
  expect(pidOf(events[3])).not.toBe(pid);
  expect(events.map(({ kind }) => kind)).toEqual([
    'renderer_started',
    'renderer_ready',
    'renderer_ended',
    'renderer_started',
    'renderer_ready',
  ]);
});

test.each([
  ['says why', () => run('fails'), 'no browser', { code: 1 }],
  ['says nothing', () => run('ends'), 'it ended with status 3', { code: 3, reason: null }],
  [
    'can’t be started at all',
    () => supervise(['/nowhere/program']),
    'spawn /nowhere/program ENOENT',
    { code: null },
  ],
])('it ends before it is ready and %s: nobody waits', TIMEOUT, async (_what, begin, why, end) => {
  const { renderer, events } = begin();
  const failed = { state: 'unavailable', reason: `renderer_failed: ${why}` };
  expect(await renderer.untilReady(WAIT_MS)).toEqual(failed);
  await waitUntil('it has ended', () => events.some(({ kind }) => kind === 'renderer_ended'));
  expect(await renderer.untilReady(WAIT_MS)).toEqual(failed);
  const ends = events.filter(({ kind }) => kind === 'renderer_ended');
  expect(ends[0]).toMatchObject({ signal: null, wasReady: false, ...end });
});

test('a reload while it starts waits, and does not end it', TIMEOUT, async () => {
  const { renderer, events, output } = run('serves');
  renderer.reload();
  expect(await renderer.untilReady(WAIT_MS)).toEqual(READY);
  await waitUntil('it reloads', () => output() === 'reloads\n');
  renderer.reload();
  await waitUntil('it reloads again', () => output() === 'reloads\nreloads\n');
  expect(events).toHaveLength(2);
});

test('a stop lets everybody go who waits', TIMEOUT, async () => {
  const { renderer } = run('serves');
  const waiting = renderer.untilReady(WAIT_MS);
  await renderer.close();
  expect(await waiting).toMatchObject({ state: 'unavailable' });
});

// A worker's life: it asks for its assignment, serves, and ends when the primary process says so or
// is gone. Signals are the primary's to act on, because a terminal sends them to every process.
import process from 'node:process';
import { connectPrimary } from '../../adapters/workers/connect-primary.ts';
import { createMemberLeases } from '../../adapters/workers/create-member-leases.ts';
import { isPortName } from '../open-ports.ts';
import type { StartOptions } from '../start-options.ts';
import { readPrimaryQuestion, readPrimaryWord } from './messages.ts';
import { createPrimaryLink } from './primary-link.ts';
import { type RunningWorker, runWorker } from './run-worker.ts';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR2'] as const;

/** Starts it; in a process that is no worker it throws. */
export async function startWorker(
  io: Pick<StartOptions, 'env' | 'stdout' | 'stderr'>,
): Promise<void> {
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  let running: RunningWorker | null = null;
  const channel = connectPrimary({
    answer: async (body) => await answer(body, running),
    connect: (port, socket) => {
      if (running === null || !isPortName(port)) socket.destroy();
      else running.connect(port, socket);
    },
    hear: (body) => {
      const word = readPrimaryWord(body);
      if (word.kind === 'exit') process.exit();
      leases.end(word.turn, word.result);
    },
  });
  const link = createPrimaryLink(channel);
  const leases = createMemberLeases(link.leases);
  try {
    const assignment = await link.askAssignment();
    const { renderer, queueRefresh } = link;
    running = await runWorker({ assignment, io, renderer, leases, queueRefresh });
    link.tell({ kind: 'ready' });
  } catch (cause) {
    // The primary process says it for all of them, and ends this one.
    link.tell({ kind: 'failed', message: cause instanceof Error ? cause.message : String(cause) });
  }
}

async function answer(body: unknown, running: RunningWorker | null): Promise<unknown> {
  const question = readPrimaryQuestion(body);
  if (running === null) throw new Error('the worker does not serve yet');
  switch (question.kind) {
    case 'reload':
      return await running.reload(question.copy);
    case 'metrics':
      return await running.snapshot();
    case 'stop':
      await running.stop(question.idleGraceMs);
      return await running.snapshot();
  }
}

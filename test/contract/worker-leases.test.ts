// The leases of a gateway with workers: one client is the primary process, which keeps them, the
// other a real worker process at the end of a pipe.
import { expect, test } from 'vitest';
import { createWorkerChannel } from '../../src/adapters/workers/channel.ts';
import { createMemberLeases } from '../../src/adapters/workers/create-member-leases.ts';
import { forkWorker, type WorkerProcess } from '../../src/adapters/workers/fork-worker.ts';
import { createLeaseKeeper, type LeaseKeeper } from '../../src/adapters/workers/lease-keeper.ts';
import { joinLeases } from '../../src/compose/workers/join-leases.ts';
import { readWorkerQuestion, readWorkerWord } from '../../src/compose/workers/messages.ts';
import { createPrimaryLink } from '../../src/compose/workers/primary-link.ts';
import type { LeaseResult, Leases, LeaseTurn } from '../../src/pipeline/ports.ts';
import { describeLeases } from './leases.contract.ts';

const FIXTURE = {
  path: new URL('./fixtures/lease-worker.ts', import.meta.url).pathname,
  execArgv: ['--import', import.meta.resolve('tsx')],
};
const KEY = 'cache:1:1:0123456789abcdef';
const ANSWER_MS = 20_000;

describeLeases('primary process and worker', async () => {
  const keeper = createLeaseKeeper();
  const primary = joinLeases(keeper);
  const worker = await startLeaseWorker(keeper);
  const kill = async (): Promise<void> => {
    worker.kill();
    await worker.exited;
  };
  return {
    clients: [primary, clientOf(worker)],
    killSecond: kill,
    dispose: async () => {
      await primary.close();
      await kill();
    },
  };
});

describeLeases('two members in one process', async () => {
  const keeper = createLeaseKeeper();
  const [one, other] = [joinLeases(keeper), joinLeases(keeper)];
  return {
    clients: [one, other],
    killSecond: other.close,
    dispose: async () => {
      await one.close();
      await other.close();
    },
  };
});

test('a primary process that does not answer: unavailable, and nothing stays behind', async () => {
  const sent: unknown[] = [];
  const silent = createWorkerChannel(
    { send: (frame) => void sent.push(frame) },
    { answer: async () => null, hear: () => undefined },
  );
  const leases = createMemberLeases(createPrimaryLink(silent).leases);
  expect(await leases.enter(KEY)).toMatchObject({ role: 'unavailable' });
  expect(sent).toMatchObject([
    { kind: 'question', body: { kind: 'enter', key: KEY, turn: 1 } },
    { kind: 'word', body: { kind: 'release', key: KEY, turn: 1, result: { outcome: 'lost' } } },
  ]);
});

test('a primary process that is late is waited for', async () => {
  const late = createWorkerChannel(
    {
      send: (frame) => {
        if (frame.kind !== 'question') return;
        setTimeout(() => late.receive({ kind: 'answer', id: frame.id, body: 'follower' }), 1_500);
      },
    },
    { answer: async () => null, hear: () => undefined },
  );
  const leases = createMemberLeases(createPrimaryLink(late).leases);
  expect(await leases.enter(KEY)).toMatchObject({ role: 'follower' });
});

/** Forks it and answers its questions, as the primary process does. */
async function startLeaseWorker(keeper: LeaseKeeper): Promise<WorkerProcess> {
  let isReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const member = keeper.join((turn, result) =>
    worker.channel.tell({ kind: 'lease_ended', turn, result }),
  );
  const worker = forkWorker(FIXTURE, {
    answer: async (body) => {
      const question = readWorkerQuestion(body);
      return question.kind === 'enter' ? member.enter(question.key, question.turn) : null;
    },
    hear: (body) => {
      const word = readWorkerWord(body);
      if (word.kind === 'ready') isReady();
      if (word.kind === 'release') member.release(word.key, word.turn, word.result);
    },
    accepted: () => undefined,
  });
  void worker.exited.then(member.leave);
  await ready;
  return worker;
}

/** The port in the worker, by telling the worker. */
function clientOf({ channel }: WorkerProcess): Leases {
  let lastTurn = 0;
  const order = async (method: string, turn: number, more: object = {}): Promise<unknown> => {
    const answer = await channel.ask({ method, turn, ...more }, ANSWER_MS);
    return answer.state === 'done' ? answer.value : null;
  };
  return {
    enter: async (key): Promise<LeaseTurn> => {
      lastTurn += 1;
      const turn = lastTurn;
      const role = await order('enter', turn, { key });
      if (role === 'follower') {
        return { role, result: order('wait', turn) as Promise<LeaseResult> };
      }
      if (role !== 'leader') return { role: 'unavailable', reason: String(role) };
      let isHeld = true;
      return {
        role,
        lease: {
          isHeld: () => isHeld,
          release: async (result) => {
            await order('release', turn, { result });
            isHeld = (await order('isHeld', turn)) === true;
          },
        },
      };
    },
    close: async () => void (await order('close', 0)),
  };
}

// A gateway before an origin that answers what it is asked when the test says so.
import type { Socket } from 'node:net';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, type Stage, type StageOptions, setStage } from '../scenario/stage.ts';

export interface HeldStage extends Stage {
  /** The origin's ends of requests for `/held…`, which it answers when it is told to. */
  readonly held: Map<string, Socket>;
  readonly isHeld: (target: string) => Promise<Socket>;
}

export async function holdStage(options: StageOptions = {}): Promise<HeldStage> {
  const held = new Map<string, Socket>();
  const stage = await setStage({
    ...options,
    origin: ({ target, method, body }, socket) => {
      if (!target.startsWith('/held')) return answer(200, `${method} ${target} ${body}`);
      held.set(target, socket);
      return null;
    },
  });
  return {
    ...stage,
    held,
    isHeld: async (target) => {
      await waitUntil(`${target} is asked for`, () => held.has(target));
      return held.get(target) as Socket;
    },
  };
}

// A page that POST changes, and two gateways on one store: what is passed on and kept by the one is
// never older than what was changed through the other.
import { expect } from 'vitest';
import { type RawOrigin, startRawOrigin } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, ask, HUMAN } from './stage.ts';

interface Gateway {
  readonly port: number;
}

export interface ChangingOrigin extends RawOrigin {
  /** From now on it answers a GET when it is told to, with what it had when that came. */
  readonly hold: () => void;
  readonly held: () => number;
  readonly release: () => void;
  readonly version: () => number;
}

/** Keys of a host whose unrendered answers are kept. */
export const PASSED_ON = 'bypass: {cache: {enabled: true}}\n';

const ROUNDS = 40;

export async function startChanging(): Promise<ChangingOrigin> {
  const held: (() => void)[] = [];
  let isHolding = false;
  let version = 1;
  const origin = await startRawOrigin({
    answer: ({ method }, socket) => {
      if (method === 'POST') {
        version += 1;
        return answer(200, 'done', 'Content-Location: /other');
      }
      const text = answer(200, `v${version}`, 'Cache-Control: max-age=600');
      if (!isHolding) return text;
      held.push(() => void socket.write(text));
      return null;
    },
  });
  return Object.assign(origin, {
    hold: () => {
      isHolding = true;
    },
    held: () => held.length,
    release: () => {
      isHolding = false;
      for (const send of held.splice(0)) send();
    },
    version: () => version,
  });
}

export async function expectChanged(
  all: readonly [Gateway, Gateway],
  origin: ChangingOrigin,
): Promise<void> {
  const [one, other] = all;
  const get = async ({ port }: Gateway, target = '/data') =>
    await ask(port, target, { userAgent: HUMAN });
  const change = async ({ port }: Gateway): Promise<void> => {
    const reply = await ask(port, '/data', { userAgent: HUMAN, method: 'POST' });
    expect(reply.status).toBe(200);
  };
  for (const target of ['/data', '/other']) {
    origin.hold();
    const running = get(one, target);
    await waitUntil('a GET is on its way', () => origin.held() === 1);
    await change(other);
    origin.release();
    await running;
    for (const from of all) expect((await get(from, target)).body).toBe(`v${origin.version()}`);
  }
  // One client over two connections: what it reads is never older than what it has written.
  const older: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await change(one);
    for (const from of [other, one]) {
      const { body } = await get(from);
      if (body !== `v${origin.version()}`) older.push(`${round}: ${body}`);
    }
  }
  expect(older).toEqual([]);
  expect((await get(one)).header('Cache-Status')).toContain('; hit');
}

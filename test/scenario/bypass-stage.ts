// The stage of bypass caching: a host that wants it, an origin whose answers a test may change, a
// person who asks.
import type { Answer } from '../helpers/raw-origin.ts';
import {
  answer,
  HUMAN,
  type Question,
  type Reply,
  type Stage,
  type StageOptions,
  setStage,
} from './stage.ts';

const CACHE = 'bypass: {cache: {enabled: true, ttl: 0s}}';
export const FRESH = 'Cache-Control: max-age=60';

/** A stage whose origin answers what `current` says at the time. */
export async function setUp(
  first: Answer,
  options: StageOptions = {},
): Promise<
  Stage & { current: Answer; readonly get: (q?: Question, target?: string) => Promise<Reply> }
> {
  const script = { current: first };
  const stage = await setStage({
    hasTestClock: true,
    host: CACHE,
    ...options,
    origin: (request, socket) => script.current(request, socket),
  });
  return Object.assign(script, stage, {
    get: (question?: Question, target = '/app.js') =>
      stage.ask(target, { userAgent: HUMAN, ...question }),
  });
}

export const verdict = (reply: Reply): string =>
  `${reply.header('X-Render-Source')} ${reply.header('X-Render-Cache')} ${reply.body}`;

/** How often `counted` has answered; a test begins at 0. */
export const visits = { count: 0 };

/** An answer that tells the visits of the origin. */
export const counted =
  (...lines: readonly string[]): Answer =>
  () => {
    visits.count += 1;
    return answer(200, `v${visits.count}`, ...lines);
  };

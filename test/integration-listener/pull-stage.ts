// The stage of the scenarios with the pull listener open, and a client that asks it.
import {
  ask,
  openStage,
  type Question,
  type Reply,
  type Stage,
  type StageOptions,
} from '../scenario/stage.ts';

export const KEY = 'test-render-key';

export interface PullStage extends Stage {
  readonly close: () => Promise<void>;
  readonly pullPort: number;
  /** A crawler's request with the right key, unless told otherwise. */
  readonly pull: (
    target: string,
    question?: Question & { readonly key?: string | null },
  ) => Promise<Reply>;
}

/** A stage with a render service and a host `site.test` that has a key. */
export async function openPullStage(options: StageOptions = {}): Promise<PullStage> {
  const stage = await openStage({
    engine: 'service',
    host: `render_key: ${KEY}\n`,
    ...options,
    gateway: `integration: {enabled: true, listen: "127.0.0.1:0"}\n${options.gateway ?? ''}`,
  });
  const pullPort = stage.gateway.integrationPort;
  if (pullPort === null) throw new Error('the pull listener is off');
  return {
    ...stage,
    pullPort,
    pull: (target, { key = KEY, ...question } = {}) =>
      ask(pullPort, target, {
        host: 'gateway.internal:8081',
        ...question,
        headers: [...(question.headers ?? []), ...(key === null ? [] : [`X-Render-Key: ${key}`])],
      }),
  };
}

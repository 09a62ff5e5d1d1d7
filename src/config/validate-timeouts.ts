// Timeouts that can't nest are found at load: render.soft_timeout < render.timeout ≤
// server.timeout, bypass.timeout ≤ server.timeout. Each level checks only what it writes itself.
import { type ConfigNode, descend, reportError } from './config-node.ts';
import { type MergedPolicy, softTimeoutOf } from './merge-policy.ts';
import { formatDuration } from './values/parse-duration.ts';

export interface ServerTimeout {
  readonly timeoutMs: number;
  /** Where it is written. */
  readonly node: ConfigNode;
}

/** Checks one level: its own block, and what the merge made of it. */
export function checkTimeouts(node: ConfigNode, merged: MergedPolicy, server: ServerTimeout): void {
  const render = descend(node, 'render.timeout');
  const soft = descend(node, 'render.soft_timeout');
  const { timeoutMs } = merged.render;
  if ((render ?? soft) !== undefined && softTimeoutOf(merged) >= timeoutMs) {
    reportError(
      soft ?? render ?? node,
      `render.soft_timeout (${formatDuration(softTimeoutOf(merged))}) must be shorter than ` +
        `render.timeout (${formatDuration(timeoutMs)})`,
      'without render.soft_timeout it is 80 % of render.timeout',
    );
  }
  checkInside(render, 'render.timeout', timeoutMs, server);
  checkInside(descend(node, 'bypass.timeout'), 'bypass.timeout', merged.bypass.timeoutMs, server);
}

/** The global level also answers for the defaults, when only `server.timeout` is written. */
export function checkServerTimeout(
  root: ConfigNode,
  merged: MergedPolicy,
  server: ServerTimeout,
): void {
  const inner = [
    ['render.timeout', merged.render.timeoutMs],
    ['bypass.timeout', merged.bypass.timeoutMs],
  ] as const;
  for (const [name, timeoutMs] of inner) {
    if (descend(root, name) === undefined) checkInside(server.node, name, timeoutMs, server);
  }
}

function checkInside(
  node: ConfigNode | undefined,
  name: string,
  timeoutMs: number,
  server: ServerTimeout,
): void {
  if (node === undefined || timeoutMs <= server.timeoutMs) return;
  reportError(
    node,
    `${name} (${formatDuration(timeoutMs)}) must not be longer than ` +
      `server.timeout (${formatDuration(server.timeoutMs)})`,
    'raise server.timeout, or shorten the other',
  );
}

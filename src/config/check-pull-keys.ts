// Pull endpoints that nobody may use are a slip: said when the configuration is loaded.
import type { PolicySet } from '../core/policy/policy.ts';
import { type ConfigNode, descend, reportWarning } from './config-node.ts';
import type { Settings } from './settings.ts';
import { isLoopback } from './values/parse-listen.ts';

/** On loopback a host without a key is served; anywhere else it is not. */
export function checkPullKeys(
  gateway: ConfigNode,
  { integration }: Settings,
  { hosts }: PolicySet,
): void {
  if (integration === null || isLoopback(integration.listen)) return;
  if (hosts.some((host) => host.renderKey !== null)) return;
  reportWarning(
    descend(gateway, 'integration.listen') ?? gateway,
    'no host has a `render_key`, so the pull endpoints refuse everybody',
    'write a render_key at each host that may be asked for',
  );
}

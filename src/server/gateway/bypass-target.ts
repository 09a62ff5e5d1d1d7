// Where a request is passed on to, and how it is presented there.
import type { BypassDelivery } from '../../pipeline/state.ts';
import type { BypassTarget } from '../bypass/ports.ts';
import type { Visit } from './visit.ts';

export function bypassTarget(
  { visitor, inner }: Visit,
  { host, timeoutMs, userAgent, headers, onAnswer }: BypassDelivery,
  originUrl: string,
): BypassTarget {
  return {
    requestId: visitor.client.requestId,
    inner,
    originUrl,
    hostHeader: host.originHostHeader ?? visitor.publicHost,
    publicHost: visitor.publicHost,
    scheme: host.scheme,
    timeoutMs,
    userAgent,
    extraResponseHeaders: headers,
    ...(onAnswer && { onAnswer }),
  };
}

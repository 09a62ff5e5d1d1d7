// Where a request is passed on to, and how it is presented there.
import type { BypassDelivery } from '../../pipeline/state.ts';
import type { BypassTarget } from '../bypass/ports.ts';
import type { Visit } from './visit.ts';

/** What is told of who asks; `publicHost` as the client wrote it. */
type Asked = Pick<BypassTarget, 'requestId' | 'inner' | 'publicHost'>;

export function askedOf({ visitor, inner }: Visit): Asked {
  return { requestId: visitor.client.requestId, inner, publicHost: visitor.publicHost };
}

export function bypassTarget(
  { requestId, inner, publicHost }: Asked,
  { host, timeoutMs, userAgent, downstream, headers, onAnswer }: BypassDelivery,
  originUrl: string,
): BypassTarget {
  return {
    requestId,
    inner,
    originUrl,
    hostHeader: host.originHostHeader ?? publicHost,
    publicHost,
    scheme: host.scheme,
    timeoutMs,
    userAgent,
    downstream,
    extraResponseHeaders: headers,
    ...(onAnswer && { onAnswer }),
  };
}

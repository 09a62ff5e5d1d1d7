// Where the lane passes a request on to, and the head it has there: as the long way would write it,
// because an origin must not be able to tell which way a request came.
import { forwardRequestHeaders } from '../../core/http/forwarded.ts';
import type { BypassTarget } from '../bypass/ports.ts';
import { bypassTarget } from '../gateway/bypass-target.ts';
import { type LaneRequest, type PassPlan, requestIdOf } from './lane-plans.ts';

/** What has to be known of a plan. */
export type Passable = Pick<PassPlan, 'delivery' | 'headersFor'>;

export function targetOf(request: LaneRequest, plan: Passable, originUrl: string): BypassTarget {
  const requestId = requestIdOf(request);
  const asked = { requestId, inner: null, publicHost: request.head.host };
  return bypassTarget(asked, { ...plan.delivery, headers: plan.headersFor(requestId) }, originUrl);
}

/** @returns latin1 */
export function upstreamHead(
  { head, peer, snapshot }: LaneRequest,
  target: BypassTarget,
  pseudonym: string,
): string {
  const fields = forwardRequestHeaders(head.fields, {
    hostHeader: target.hostHeader,
    publicHost: target.publicHost,
    scheme: target.scheme,
    peerAddress: peer,
    isTrustedPeer: snapshot.isTrustedPeer(peer),
    pseudonym,
    httpVersion: '1.1',
    userAgent: target.userAgent,
    isShared: false,
  });
  let text = `GET ${head.target} HTTP/1.1\r\n`;
  for (let at = 0; at + 1 < fields.length; at += 2) text += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${text}Connection: keep-alive\r\n\r\n`;
}

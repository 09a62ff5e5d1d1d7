// What a request is chosen by among the variants of its URL: the fields as the origin gets them.
import { visitFields } from '../../core/http/hop-headers.ts';
import { withoutConditions } from '../../core/http/shared-cache/judge-request.ts';
import { sentFields } from '../../core/http/shared-cache/sent-fields.ts';
import { selectingFields } from '../../core/http/shared-cache/vary.ts';
import type { HeaderList } from '../ports.ts';
import type { Planned } from '../state.ts';

/** Our own member of `Via` is the same for all. */
const PSEUDONYM = 'edge-gateway';
const NOBODY = { address: '', isTrusted: false };

/** @param names of the answer's `Vary`, lower case */
export function chooseVariant(
  names: readonly string[],
  { host, decision, request }: Planned,
): HeaderList {
  if (names.length === 0) return [];
  const sent: [string, string][] = [];
  const shared = {
    host,
    url: decision.normalized,
    headers: withoutConditions(request.headers),
    peer: request.peer ?? NOBODY,
    httpVersion: request.httpVersion,
    userAgent: decision.policy.bypass.userAgent,
  };
  visitFields(sentFields(shared, PSEUDONYM), (name, value) => sent.push([name, value]));
  return selectingFields(names, sent);
}

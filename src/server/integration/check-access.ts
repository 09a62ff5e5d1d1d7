// Who may ask for a page: whoever knows the key of its host. An unknown host and a wrong key take
// the same time and get the same answer, so that nobody can ask which hosts there are.
import type { HostPolicy } from '../../core/policy/policy.ts';
import { isSameSecret } from '../is-same-secret.ts';

export type Access = 'granted' | 'missing' | 'refused';

/**
 * @param host null: there is none of that name
 * @param given the key that came with the request, or null
 * @param isLocal only this machine can ask: then a host without a key is served
 */
export function checkAccess(
  host: HostPolicy | null,
  given: string | null,
  isLocal: boolean,
): Access {
  const expected = host?.renderKey ?? null;
  const isSame = isSameSecret(given ?? '', expected ?? '');
  if (isLocal && host !== null && expected === null) return 'granted';
  if (given === null) return 'missing';
  return expected !== null && isSame ? 'granted' : 'refused';
}

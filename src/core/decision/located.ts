// A URL with its host and the rule it settled on, before any plan is made.
import type { HostPolicy } from '../policy/policy.ts';
import type { ParsedUrl } from '../url/normalize-url.ts';
import type { Settled } from './settle-rule.ts';

export interface Located {
  readonly host: HostPolicy | null;
  readonly parsed: ParsedUrl;
  readonly settled: Settled;
}

// Ids of requests: in the form of a UUID, random for each process and counted within it. They name
// requests and keep no secret, so they need no random bytes each.
import { randomUUID } from 'node:crypto';

const PREFIX = randomUUID().slice(0, -'000000000000'.length);
const COUNT_DIGITS = 12;

/** What an id from outside may consist of; anything else could forge log lines. */
const GIVEN = /^[A-Za-z0-9._-]{1,64}$/;

let count = 0;

export function nextRequestId(): string {
  count += 1;
  return `${PREFIX}${count.toString(16).padStart(COUNT_DIGITS, '0')}`;
}

/** Whether an id from outside can be taken over. */
export function isRequestId(text: string): boolean {
  return GIVEN.test(text);
}

// Comparing secrets. Hashed first: the comparison then needs no equal lengths, takes the same time
// whatever was given, and tells nothing about either.
import { createHash, timingSafeEqual } from 'node:crypto';

export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

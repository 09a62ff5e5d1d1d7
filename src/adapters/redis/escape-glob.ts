// Text as a literal inside a Redis MATCH pattern. Prefixes are made of digits today; the escape
// keeps it true that no text from outside can widen a purge.

/** Escapes the characters that Redis' glob-style patterns give a meaning to. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, '\\$&');
}

// Whether an answer tells where its body ends (RFC 9112 §6.3): one that ends with its connection
// can't be told from one that was cut off.

const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** @param names of the answer's fields, as written */
export function isDelimited(names: readonly string[]): boolean {
  return names.some((name) => FRAMING.has(name.toLowerCase()));
}

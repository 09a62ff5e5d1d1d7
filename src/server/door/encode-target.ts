// Bytes above ASCII in a request target, as percent escapes. Node shows them as latin1 characters;
// the normalizer wants the octets, whatever encoding they are in. Bypass sends the raw target.

/** The target with each byte from 0x80 on as its `%XX` triplet. */
export function encodeTarget(target: string): string {
  return target.replace(
    /[\x80-\xff]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

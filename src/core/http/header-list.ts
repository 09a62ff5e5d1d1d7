// Headers as an ordered list of pairs: repeats and their order survive, and a field named
// `__proto__` is an ordinary name. Names compare without case; values are latin1 text.

export type HeaderList = readonly (readonly [string, string])[];

/** Every value of a field, in order. `name` is lower case. */
export function headerValues(headers: HeaderList, name: string): readonly string[] {
  return headers.filter(([field]) => field.toLowerCase() === name).map(([, value]) => value);
}

/** The first value of a field, or null. `name` is lower case. */
export function firstHeader(headers: HeaderList, name: string): string | null {
  return headers.find(([field]) => field.toLowerCase() === name)?.[1] ?? null;
}

/** The members of a comma-separated field over all its lines, trimmed, empty ones left out. */
export function fieldMembers(headers: HeaderList, name: string): readonly string[] {
  return headerValues(headers, name)
    .flatMap((value) => value.split(','))
    .map((member) => member.trim())
    .filter((member) => member !== '');
}

/** A field name as RFC 9110 §5.6.2 allows it: one token. */
export function isFieldName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/** A value that can be written on one header line and back: no CR, LF, NUL or other control. */
export function isFieldValue(text: string): boolean {
  return /^[\t -~\u0080-\u00ff]*$/.test(text);
}

/** Any text as a field value: what a header line cannot hold is percent-encoded as UTF-8. */
export function encodeHeaderText(text: string): string {
  let encoded = '';
  for (const byte of new TextEncoder().encode(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e;
    encoded += isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

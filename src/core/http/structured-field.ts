// The little of RFC 9651 that we write: tokens, strings, integers and flags as parameters.

export type ParameterValue = string | number | true;

/** A parameter whose text is written as a token when it can be one. */
export interface TokenText {
  readonly token: string;
}

/** One item with parameters; undefined ones are left out. */
export function formatItem(
  name: string,
  parameters: readonly (readonly [string, ParameterValue | TokenText | undefined])[],
): string {
  let out = name;
  for (const [key, value] of parameters) {
    if (value === undefined) continue;
    out += value === true ? `; ${key}` : `; ${key}=${formatValue(value)}`;
  }
  return out;
}

function formatValue(value: string | number | TokenText): string {
  if (typeof value === 'number') return String(Math.trunc(value));
  if (typeof value === 'string') return quote(value);
  return /^[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*$/.test(value.token)
    ? value.token
    : quote(value.token);
}

/** A quoted string: `"` and `\` escaped, what no string may hold replaced. */
function quote(text: string): string {
  return `"${text.replace(/[^ -~]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

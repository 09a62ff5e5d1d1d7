// `${NAME}` and `${NAME:-default}` inside scalar values. What comes out of the environment may be a
// secret: its pointer is remembered, and no message ever shows the value.
import type { ConfigDocument } from './parse-yaml.ts';
import { placeOf } from './parse-yaml.ts';
import { escapePointer } from './source-map.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([^}]*)\}?/g;
const INSIDE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * Fills in the environment and drops keys that were left without a value.
 *
 * @returns the document with its final values
 */
export function interpolateEnv(document: ConfigDocument, env: Environment): ConfigDocument {
  return { ...document, value: resolveValue(document, document.value, '', env) };
}

function resolveValue(
  document: ConfigDocument,
  value: unknown,
  pointer: string,
  env: Environment,
): unknown {
  if (typeof value === 'string') return resolveText(document, value, pointer, env);
  if (Array.isArray(value)) {
    return value.map((item, index) => resolveValue(document, item, `${pointer}/${index}`, env));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = [];
  for (const [key, child] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(key)}`;
    if (child === null) warnEmpty(document, key, at);
    else entries.push([key, resolveValue(document, child, at, env)]);
  }
  // fromEntries defines own properties, so a key `__proto__` stays a key like any other.
  return Object.fromEntries(entries);
}

function warnEmpty(document: ConfigDocument, key: string, pointer: string): void {
  document.problems.add({
    ...placeOf(document, pointer, 'key'),
    severity: 'warning',
    message: `"${key}" has no value and is ignored`,
    hint: 'remove the key, or write its value after the colon',
  });
}

function resolveText(
  document: ConfigDocument,
  text: string,
  pointer: string,
  env: Environment,
): string {
  if (!text.includes('${')) return text;
  // A path is no secret, and the file names of all messages come from this one.
  const isShown = pointer === '/hosts/include';
  if (!isShown) document.hidden.add(pointer);
  const place = placeOf(document, pointer, 'value');
  let isFilled = true;
  const fail = (message: string, hint: string): string => {
    isFilled = false;
    document.problems.add({ ...place, severity: 'error', message, hint });
    return text;
  };
  const filledText = text.replace(REFERENCE, (whole, inside: string) => {
    const match = whole.endsWith('}') ? INSIDE.exec(inside) : null;
    const name = match?.[1];
    if (name === undefined) {
      return fail('bad reference to the environment', 'write ${NAME} or ${NAME:-default}');
    }
    const fallback = match?.[2];
    const found = env[name];
    const filled = found === undefined || found === '' ? (fallback ?? found) : found;
    if (filled === undefined) {
      return fail(
        `the environment variable ${name} is not set`,
        `set it, or write \${${name}:-default}`,
      );
    }
    if (/[\0-\x1f\x7f]/.test(filled)) {
      return fail(
        `the environment variable ${name} holds a control character`,
        'a line break at its end is the usual cause',
      );
    }
    if (!isShown && filled === found) document.problems.hide(filled);
    return filled;
  });
  // What stands there now is no value of the user's, and nothing else is to be said about it.
  if (!isFilled) document.problems.close(place);
  return filledText;
}

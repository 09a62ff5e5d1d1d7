// Value against schema. TypeBox names the pointer of everything wrong; this file turns that into
// one sentence a mistake, on its own line, with a hint. The only user of TypeBox's checker.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError as ShapeError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { isRecord } from '../core/records.ts';
import { type ConfigNode, isSecret, rootOf, showValue } from './config-node.ts';
import { type ConfigDocument, placeOf } from './parse-yaml.ts';
import { dropBranchErrors, schemaAt } from './shape-errors.ts';
import { escapePointer } from './source-map.ts';
import { indexKeys, type KeyIndex, suggestWord } from './suggest-key.ts';

/** Checks a document against the schema of its file. */
export type ShapeCheck = (document: ConfigDocument) => void;

/** Far more than anybody reads; TypeBox stops at 8 by default. */
const ERRORS_MAX = 2_000;

/**
 * Compiles a schema.
 *
 * @param elsewhere keys of the other file, to say that a key belongs there
 */
export function compileShape(
  schema: TSchema,
  elsewhere: Readonly<Record<string, TSchema>>,
): ShapeCheck {
  const validator = Compile(schema);
  const here = indexKeys(schema);
  const others = Object.entries(elsewhere).map(
    ([file, other]) => [file, indexKeys(other)] as const,
  );
  const listErrors = (value: unknown): readonly ShapeError[] => {
    if (validator.Check(value)) return [];
    Settings.Set({ maxErrors: ERRORS_MAX });
    return validator.Errors(value);
  };
  return (document) => {
    const root = rootOf(document);
    const errors = retypeHidden(document, listErrors(root.value)) ? listErrors(root.value) : null;
    for (const error of dropBranchErrors(errors ?? listErrors(root.value))) {
      reportShape({ document, schema, here, others }, error);
    }
  };
}

interface Context {
  readonly document: ConfigDocument;
  readonly schema: TSchema;
  readonly here: KeyIndex;
  readonly others: readonly (readonly [string, KeyIndex])[];
}

function reportShape(context: Context, error: ShapeError): void {
  const { document, schema } = context;
  const node = nodeAt(document, error.instancePath);
  const add = (
    pointer: string,
    part: 'key' | 'value',
    message: string,
    hint: string | null,
  ): void =>
    document.problems.add({
      ...placeOf(document, pointer, part),
      severity: 'error',
      message,
      hint,
    });

  if (error.keyword === 'additionalProperties') {
    for (const key of error.params.additionalProperties) {
      const siblings = propertiesOf(schemaAt(schema, error.schemaPath));
      const pointer = `${error.instancePath}/${escapePointer(key)}`;
      add(pointer, 'key', `unknown key "${key}"`, hintForKey(context, key, siblings));
    }
    return;
  }
  if (error.keyword === 'required') {
    const missing = error.params.requiredProperties.map((key) => `"${key}"`).join(' and ');
    add(error.instancePath, 'value', `${missing} is missing`, null);
    return;
  }
  const { message, hint } = describe(error, node, schemaAt(schema, error.schemaPath));
  add(error.instancePath, 'value', `${nameOf(error.instancePath)} ${message}`, hint);
}

function describe(
  error: ShapeError,
  node: ConfigNode,
  schema: unknown,
): { readonly message: string; readonly hint: string | null } {
  const title = isRecord(schema) && typeof schema['title'] === 'string' ? schema['title'] : null;
  switch (error.keyword) {
    case 'enum': {
      const allowed = error.params.allowedValues.map(String);
      const near = typeof node.value === 'string' ? suggestWord(node.value, allowed) : null;
      return {
        message: `must be one of ${allowed.join(', ')}, not ${showValue(node)}`,
        hint: near === null ? null : `did you mean "${near}"?`,
      };
    }
    case 'type':
    case 'anyOf':
      return {
        message: `must be ${title ?? nameType(error)}, not ${nameKind(node.value)}`,
        hint: hintForType(title, node),
      };
    case 'minimum':
      return { message: `must be at least ${error.params.limit}`, hint: null };
    case 'maximum':
      return { message: `must be at most ${error.params.limit}`, hint: null };
    case 'minItems':
    case 'minLength':
      return { message: 'must not be empty', hint: null };
    default:
      return { message: error.message, hint: null };
  }
}

function nameType(error: ShapeError): string {
  if (error.keyword !== 'type') return 'something else';
  const type = String(error.params.type);
  return type === 'object' ? 'a map of keys' : type === 'array' ? 'a list' : `a ${type}`;
}

function hintForType(title: string | null, node: ConfigNode): string | null {
  const { value } = node;
  if (title?.startsWith('a duration') && typeof value === 'number') {
    return isSecret(node) ? 'write the unit, such as s' : `write the unit: "${value}s"`;
  }
  const isScalar = typeof value === 'number' || typeof value === 'boolean';
  if (isScalar && /text|pattern/.test(title ?? '')) {
    return isSecret(node) ? 'write it in quotes' : `write it in quotes: "${value}"`;
  }
  if (title?.startsWith('a list') && typeof value === 'string') {
    return 'write it as a list: ["…"], or one "- …" a line';
  }
  return null;
}

function hintForKey(context: Context, key: string, siblings: readonly string[]): string | null {
  const near = suggestWord(key, siblings);
  if (near !== null) return `did you mean "${near}"?`;
  const here = context.here.get(key);
  if (here !== undefined) return `"${key}" belongs to ${here.slice(0, 3).join(' or ')}`;
  for (const [file, index] of context.others) {
    const paths = index.get(key);
    if (paths !== undefined) return `"${key}" belongs to ${paths[0]} in ${file}`;
  }
  return siblings.length === 0 || siblings.length > 40
    ? null
    : `known keys: ${siblings.join(', ')}`;
}

function propertiesOf(schema: unknown): readonly string[] {
  return isRecord(schema) && isRecord(schema['properties'])
    ? Object.keys(schema['properties'])
    : [];
}

function nameOf(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  const name = steps.findLast((step) => !/^\d+$/.test(step));
  if (name === undefined) return steps.length === 0 ? 'the file' : 'the item';
  return /^\d+$/.test(steps.at(-1) ?? '') ? `an item of "${name}"` : `"${name}"`;
}

function nameKind(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return `a ${typeof value === 'string' ? 'text' : typeof value}`;
}

function nodeAt(document: ConfigDocument, pointer: string): ConfigNode {
  let value: unknown = document.value;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  return { document, pointer, value };
}

/**
 * A value from the environment is text; where the schema wants a number or a boolean it is read as
 * one, as YAML would have done.
 *
 * @returns whether anything changed
 */
function retypeHidden(document: ConfigDocument, errors: readonly ShapeError[]): boolean {
  let changed = false;
  for (const { instancePath } of errors) {
    if (!document.hidden.has(instancePath)) continue;
    const parent = nodeAt(document, instancePath.slice(0, instancePath.lastIndexOf('/'))).value;
    const { value } = nodeAt(document, instancePath);
    const typed = typeof value === 'string' ? readScalar(value) : null;
    if (typed === null || typeof parent !== 'object' || parent === null) continue;
    const key = instancePath.slice(instancePath.lastIndexOf('/') + 1);
    changed =
      Reflect.set(parent, key.replaceAll('~1', '/').replaceAll('~0', '~'), typed) || changed;
  }
  return changed;
}

function readScalar(text: string): number | boolean | null {
  if (text === 'true') return true;
  if (text === 'false') return false;
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : null;
}

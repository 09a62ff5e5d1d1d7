// `POST /purge`: which pages, and how they go. Read field by field, so that nothing unknown is ever
// obeyed.

import { isRecord } from '../../core/records.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { chooseTarget, type PurgeRequest } from '../../pipeline/purge/purge-request.ts';

type FieldType = 'text' | 'boolean' | 'id' | 'text or id';

const FIELDS: Readonly<Record<string, FieldType>> = {
  url: 'text',
  pattern: 'text',
  tag: 'text',
  host: 'text or id',
  all: 'boolean',
  undo: 'id',
  soft: 'boolean',
  dry_run: 'boolean',
};

export function parsePurgeBody(body: unknown): Result<PurgeRequest, string> {
  if (!isRecord(body)) {
    return err('send a JSON object: {"url": "https://…"} or {"host": "example.com"}');
  }
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(body)) {
    const type = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (type === undefined) {
      return err(`unknown field "${name}": ${Object.keys(FIELDS).join(', ')}`);
    }
    if (value === null) continue;
    if (!isOfType(value, type)) return err(`"${name}" is ${NAMES[type]}`);
    fields.set(name, value);
  }
  const text = (name: string): string | null =>
    fields.has(name) ? String(fields.get(name)) : null;
  const undo = fields.get('undo');
  const target = chooseTarget({
    url: text('url'),
    pattern: text('pattern'),
    tag: text('tag'),
    host: text('host'),
    all: fields.get('all') === true,
    undo: typeof undo === 'number' ? undo : null,
  });
  if (!target.ok) return target;
  const soft = fields.get('soft') === true;
  if (soft && target.value.kind === 'undo') return err('"soft" says nothing with "undo"');
  return ok({ target: target.value, soft, dryRun: fields.get('dry_run') === true });
}

const NAMES: Readonly<Record<FieldType, string>> = {
  text: 'a text',
  boolean: 'true or false',
  id: 'a number',
  'text or id': 'a domain, or the id of a host',
};

function isOfType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'id':
      return isId(value);
    case 'text or id':
      return typeof value === 'string' || isId(value);
  }
}

function isId(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

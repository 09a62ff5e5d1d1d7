// `POST /purge`: one URL, or a host. Read field by field, so that nothing unknown is ever obeyed.
import { err, ok, type Result } from '../../core/result.ts';

export interface PurgeCommand {
  /** Exactly one of the two. */
  readonly url: string | null;
  /** A domain, or a host id as text. */
  readonly host: string | null;
  readonly soft: boolean;
  readonly dryRun: boolean;
}

const FIELDS: ReadonlySet<string> = new Set(['url', 'host', 'soft', 'dry_run']);

export function parsePurgeBody(body: unknown): Result<PurgeCommand, string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return err('send a JSON object: {"url": "https://…"} or {"host": "example.com"}');
  }
  const fields = new Map<string, unknown>(Object.entries(body));
  for (const name of fields.keys()) {
    if (!FIELDS.has(name)) return err(`unknown field "${name}": url, host, soft, dry_run`);
  }
  const url = fields.get('url') ?? null;
  const host = fields.get('host') ?? null;
  const soft = fields.get('soft') ?? false;
  const dryRun = fields.get('dry_run') ?? false;
  if (typeof soft !== 'boolean' || typeof dryRun !== 'boolean') {
    return err('soft and dry_run are true or false');
  }
  if (typeof url === 'string' && host === null) return ok({ url, host: null, soft, dryRun });
  const hostText = typeof host === 'number' ? String(host) : host;
  if (typeof hostText === 'string' && url === null) {
    return ok({ url: null, host: hostText, soft, dryRun });
  }
  return err('send either "url" or "host", as text');
}

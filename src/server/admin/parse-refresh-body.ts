// `POST /recache` and `POST /warm`: one URL or a list, in one dimension or in all that are
// rendered, and how often each page is tried.
import { isCount, isRecord } from '../../core/records.ts';
import { TRIES_MAX } from '../../core/refresh/refresh-job.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import type { RefreshCommand } from '../../pipeline/refresh/request-refresh.ts';

const FIELDS: ReadonlySet<string> = new Set(['url', 'urls', 'dimension', 'tries']);

export function parseRefreshBody(body: unknown, urlsMax: number): Result<RefreshCommand, string> {
  if (!isRecord(body)) {
    return err('send a JSON object: {"url": "https://…"} or {"urls": ["https://…", …]}');
  }
  const fields = new Map<string, unknown>(Object.entries(body));
  for (const name of fields.keys()) {
    if (!FIELDS.has(name)) return err(`unknown field "${name}": url, urls, dimension, tries`);
  }
  const url = fields.get('url');
  const urls = url === undefined ? fields.get('urls') : [url];
  const dimension = fields.get('dimension') ?? null;
  const tries = fields.get('tries') ?? TRIES_MAX;
  if (url !== undefined && fields.has('urls')) return err('send either "url" or "urls"');
  if (!isTextList(urls) || urls.length === 0) return err('"urls" is a list of texts');
  if (urls.length > urlsMax) return err(`at most ${urlsMax} URLs a request`);
  if (dimension !== null && typeof dimension !== 'string') return err('"dimension" is a name');
  if (!isCount(tries) || tries < 1 || tries > TRIES_MAX) {
    return err(`"tries" is a number from 1 to ${TRIES_MAX}`);
  }
  return ok({ urls: urls.map((one) => bytesToUrlText(Buffer.from(one))), dimension, tries });
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

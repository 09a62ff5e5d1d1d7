// Where a body lies: `<base>/pages/<host_id>/<2 hex>/<hash>_<dimension_id>.html`, with `.br` or
// `.gz` added for a coding. Paths are made of checked numbers and hex digits only.
import { join } from 'node:path';
import { bodyFileName } from '../../core/key/cache-key.ts';
import type { BodyRef, ContentCoding } from '../../pipeline/ports.ts';

const SUFFIX: Readonly<Record<ContentCoding, string>> = { identity: '', gzip: '.gz', br: '.br' };

export const CODINGS = ['identity', 'gzip', 'br'] as const satisfies readonly ContentCoding[];

/** The folder a body's files are in, inside the pages folder. */
export function bodyFolder(pages: string, ref: BodyRef): string {
  return join(pages, String(ref.hostId), ref.hash.slice(0, 2));
}

/** The file of one coding of a body; throws for a reference that can't be one. */
export function bodyPath(pages: string, ref: BodyRef, coding: ContentCoding): string {
  const name = bodyFileName(ref);
  return join(bodyFolder(pages, ref), `${name}${SUFFIX[coding]}`);
}

// Where a body lies: `<base>/pages/<host_id>/<2 hex>/<hash>_<dimension_id>.html`, with `.br` or
// `.gz` added for a coding; and where the same bytes lie once for all pages of the host:
// `<base>/pages/<host_id>/.bodies/<2 hex>/<hash>-<bytes>`, named after the identity body in every
// coding. Paths are made of checked numbers and hex digits only.
import { join } from 'node:path';
import { bodyFileName, isHash, isHostId } from '../../core/key/cache-key.ts';
import type { BodyDigest, BodyRef, ContentCoding } from '../../pipeline/ports.ts';

const SUFFIX: Readonly<Record<ContentCoding, string>> = {
  identity: '',
  gzip: '.gz',
  br: '.br',
};

export const CODINGS = ['identity', 'gzip', 'br'] as const satisfies readonly ContentCoding[];

/** Inside a host's folder: what is in it is no page. */
export const CONTENT_FOLDER = '.bodies';

/** Names the bytes of one identity body of a host. */
export interface ContentRef extends BodyDigest {
  readonly hostId: number;
}

/** The folder a body's files are in, inside the pages folder. */
export function bodyFolder(pages: string, ref: BodyRef): string {
  return join(pages, String(ref.hostId), ref.hash.slice(0, 2));
}

/** The file of one coding of a body; throws for a reference that can't be one. */
export function bodyPath(pages: string, ref: BodyRef, coding: ContentCoding): string {
  const name = bodyFileName(ref);
  return join(bodyFolder(pages, ref), `${name}${SUFFIX[coding]}`);
}

/** The folder a content file is in; throws for a reference that can't be one. */
export function contentFolder(pages: string, { hostId, hash }: ContentRef): string {
  if (!isHostId(hostId) || !isHash(hash)) throw new RangeError(`not a body: ${hostId} ${hash}`);
  return join(pages, String(hostId), CONTENT_FOLDER, hash.slice(0, 2));
}

/** The file that all pages with these bytes share. */
export function contentPath(pages: string, content: ContentRef, coding: ContentCoding): string {
  const name = `${content.hash}-${content.bytes}${SUFFIX[coding]}`;
  return join(contentFolder(pages, content), name);
}

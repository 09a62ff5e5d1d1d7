// The bytes of a list of pages: standard input, a file, or a URL; unpacked where they are gzip, and
// never more than a sitemap may have.
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SitemapError } from '../../core/sitemap/read-locations.ts';

/** The limit of the sitemap protocol, unpacked. */
const SOURCE_BYTES_MAX = 52_428_800;

const REDIRECTS_MAX = 5;
const FETCH_TIMEOUT_MS = 120_000;
const GZIP = [0x1f, 0x8b];

export interface SourceReader {
  /** `-` is standard input. */
  readonly stdin: Readable;
  /** Whether a URL that was not given by the person may be fetched. */
  readonly mayFetch: (url: URL) => boolean;
}

/** Throws a `SitemapError`, or what the system says of a file. */
export async function* readSource(source: string, reader: SourceReader): AsyncGenerator<Buffer> {
  const packed = await open(source, reader);
  const bytes = await unpack(packed);
  let room = SOURCE_BYTES_MAX;
  for await (const chunk of bytes) {
    const piece = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    room -= piece.length;
    if (room < 0) throw new SitemapError(`it has more than ${SOURCE_BYTES_MAX} bytes`);
    yield piece;
  }
}

export function isWebAddress(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

async function open(source: string, { stdin, mayFetch }: SourceReader): Promise<Readable> {
  if (source === '-') return stdin;
  return isWebAddress(source) ? await fetchSource(source, mayFetch) : createReadStream(source);
}

async function fetchSource(address: string, mayFetch: (url: URL) => boolean): Promise<Readable> {
  let url = new URL(address);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { 'user-agent': 'edge-gateway warm' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new SitemapError(`it can't be fetched: ${describeFetchError(cause)}`);
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      if (response.status === 200 && response.body !== null) return Readable.fromWeb(response.body);
      await response.body?.cancel();
      throw new SitemapError(`its server answers ${response.status}`);
    }
    await response.body?.cancel();
    url = new URL(location, url);
    if (!/^https?:$/.test(url.protocol) || !mayFetch(url)) {
      throw new SitemapError(`it leads to ${url.host}, which is no configured host`);
    }
  }
  throw new SitemapError(`it is redirected more than ${REDIRECTS_MAX} times`);
}

function describeFetchError(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  const inner = cause.cause;
  if (inner instanceof Error && 'code' in inner) return String(inner.code);
  return cause.message;
}

/** By its first bytes, since names and types say it wrongly as often as not. */
async function unpack(packed: Readable): Promise<AsyncIterable<Buffer | string>> {
  const chunks: AsyncIterator<Buffer | string> = packed[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return Readable.from([]);
  const head = Buffer.from(first.value);
  async function* all(): AsyncGenerator<Buffer | string> {
    yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      yield next.value;
    }
  }
  if (head[0] !== GZIP[0] || head[1] !== GZIP[1]) return all();
  const gunzip = createGunzip();
  const input = Readable.from(all());
  input.on('error', (cause) => gunzip.destroy(cause));
  gunzip.on('error', () => input.destroy());
  return input.pipe(gunzip);
}

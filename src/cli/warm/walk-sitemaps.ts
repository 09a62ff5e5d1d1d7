// Every page of a sitemap, of the sitemaps of an index, or of a text file with one URL a line. One
// that can't be read is told of and left out; the others are walked all the same.
import { LocationReader, SitemapError } from '../../core/sitemap/read-locations.ts';
import { splitLines } from '../split-lines.ts';
import { isWebAddress, readSource, type SourceReader } from './open-source.ts';

export interface Walk extends SourceReader {
  /** A sitemap, or a part of one, that is left out; and why. */
  readonly onProblem: (source: string, reason: string) => void;
}

/** The limit of the sitemap protocol, for pages of a sitemap and for sitemaps of an index. */
const LOCATIONS_MAX = 50_000;
const LINE_BYTES_MAX = 65_536;
/** An index in an index is against the protocol, and done. */
const DEPTH_MAX = 3;

export async function* walkSitemaps(source: string, walk: Walk): AsyncGenerator<string> {
  const seen = new Set<string>();

  async function* visit(place: string, depth: number): AsyncGenerator<string> {
    if (seen.has(place)) return;
    seen.add(place);
    try {
      const inner: string[] = [];
      for await (const { kind, address } of readList(place, walk)) {
        if (kind === 'index') inner.push(address);
        else yield address;
      }
      if (inner.length > 0 && depth === DEPTH_MAX) throw new SitemapError('too many levels');
      for (const address of inner) {
        if (!isWebAddress(address) || !walk.mayFetch(new URL(address))) {
          walk.onProblem(address, 'it is on no configured host');
        } else yield* visit(address, depth + 1);
      }
    } catch (cause) {
      walk.onProblem(place, describe(cause));
    }
  }

  yield* visit(source, 1);
}

interface Listed {
  readonly kind: 'index' | 'pages';
  readonly address: string;
}

/** What one source lists; XML by its first character. */
async function* readList(source: string, walk: Walk): AsyncGenerator<Listed> {
  const chunks = readSource(source, walk);
  let head = Buffer.alloc(0);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    head = Buffer.concat([head, next.value]);
    if (firstCharacter(head) !== '') break;
  }
  const all = prepend(head, chunks);
  const listed = firstCharacter(head) === '<' ? readXml(all) : readText(all);
  let room = LOCATIONS_MAX;
  for await (const one of listed) {
    if (room === 0)
      throw new SitemapError(`it lists more than ${LOCATIONS_MAX}: the rest is left out`);
    room -= 1;
    yield one;
  }
}

async function* prepend(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

/** Behind a byte order mark and white space. */
function firstCharacter(bytes: Buffer): string {
  return bytes
    .toString('utf8', 0, 1_024)
    .replace(/^\ufeff/, '')
    .trimStart()
    .slice(0, 1);
}

async function* readXml(chunks: AsyncIterable<Buffer>): AsyncGenerator<Listed> {
  const reader = new LocationReader();
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    for (const address of reader.feed(decoder.decode(chunk, { stream: true }))) {
      yield { kind: reader.kind ?? 'pages', address };
    }
  }
  if (reader.kind === null) throw new SitemapError('it is empty');
}

async function* readText(chunks: AsyncIterable<Buffer>): AsyncGenerator<Listed> {
  for await (const line of splitLines(chunks, LINE_BYTES_MAX)) {
    const address = line
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trim();
    if (address !== '' && !address.startsWith('#')) yield { kind: 'pages', address };
  }
}

function describe(cause: unknown): string {
  if (cause instanceof SitemapError) return cause.message;
  // What the system or zlib says of a file or of its bytes.
  if (cause instanceof Error && 'code' in cause) return cause.message;
  throw cause;
}

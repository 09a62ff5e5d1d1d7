// Steps 1–5 and the reading of step 7: a text → a URL whose parts have one spelling, before any
// policy is applied. One pass over its bytes; what is canonical as written is only pointed at.
import type { HostPolicy, UrlLimits } from '../policy/policy.ts';
import { err, ok, type Result } from '../result.ts';
import {
  ENDS_PATH,
  HASH,
  IS_CONTROL,
  IS_ODD_IN_PATH,
  kindsOf,
  QUESTION,
  skipTo,
} from './byte-kinds.ts';
import { findSiteEnd, pathOf, queryOf, skipCanonicalPath, trimSpaces } from './cut-url.ts';
import { resolvePath } from './normalize-path.ts';
import { createPlaceMemo } from './place-memo.ts';
import {
  createSearchReader,
  type QueryPair,
  type Search,
  type SearchReader,
} from './read-pairs.ts';
import type { Site } from './read-site.ts';
import { createSheet, PATH } from './sheet.ts';
import { recordStep, type Trace } from './trace.ts';
import type { UrlErrorKind } from './url-error.ts';

/** Whose URL it is. */
export interface Place {
  /** As it is in the key: the scheme is the host's. */
  readonly site: Site;
  /** As the text has it, in its one spelling. */
  readonly siteRead: Site;
  /** Whether the text is what a canonical URL begins with. */
  readonly isAsWritten: boolean;
  /** null: no configured host has this name. */
  readonly host: HostPolicy | null;
}

export interface ParsedUrl {
  readonly place: Place;
  /** Encoded, slashes and dots as they came. */
  readonly encodedPath: string;
  /** The path rules are chosen on. */
  readonly rulePath: string;
  readonly query: string;
  readonly search: Search;
  /** What the places of the pairs are in: the reader's own, until it reads the next URL. */
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Where in it the query begins, or would. */
  readonly queryAt: number;
  /** Whether text and bytes are at the same places. */
  readonly isAscii: boolean;
  /** Whether the text is canonical up to the query. */
  readonly isAsWritten: boolean;
}

export interface UrlReader {
  readonly read: (input: string, trace: Trace | null) => Result<ParsedUrl, UrlErrorKind>;
  /** The same of parts that have one spelling: what a second normalization would start from. */
  readonly readParts: (place: Place, path: string, query: string) => ParsedUrl;
}

/** @param text a URL up to its path, as written */
export type PlaceFinder = (text: string, trace: Trace | null) => Result<Place, UrlErrorKind>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const CONTROL_CHARS = /[\u0000-\u001f\u007f]/;
const UTF8 = new TextEncoder();
const UTF8_TEXT = new TextDecoder('utf-8', { ignoreBOM: true });
const BYTES_AT_FIRST = 4_096;

/** A text and its bytes. */
interface Loaded {
  readonly text: string;
  /** Behind those of the text comes the `#` that all scanners stop at. */
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly siteEnd: number;
  /** The same in characters. */
  readonly siteChars: number;
}

type FoundPlace = Result<Place, UrlErrorKind>;

const NO_PAIRS: readonly QueryPair[] = [];
const SHEET = createSheet();

/** Makes a reader; it has one buffer for all URLs, so it reads one after the other. */
export function createUrlReader(limits: UrlLimits, findPlace: PlaceFinder): UrlReader {
  const readSearch = createSearchReader(limits.paramsMax);
  const places = createPlaceMemo<FoundPlace>();
  let bytes = new Uint8Array(BYTES_AT_FIRST);

  const load = (text: string): number => {
    const roomMin = text.length * 3 + 1;
    if (bytes.length < roomMin) bytes = new Uint8Array(roomMin);
    const size = UTF8.encodeInto(text, bytes).written;
    bytes[size] = HASH;
    return size;
  };

  const read = (input: string, trace: Trace | null): Result<ParsedUrl, UrlErrorKind> => {
    const text = trimSpaces(input);
    recordStep(trace, 'trim', input, text);
    // Before anything works on oversized input.
    if (text.length > limits.urlBytesMax) return refuse(text, 'too_long');
    const size = load(text);
    if (size > limits.urlBytesMax) return refuse(text, 'too_long');
    const known = trace === null ? places.find(bytes) : undefined;
    if (known !== undefined) {
      const siteEnd = known.bytes.length;
      const loaded = { text, bytes, size, siteEnd, siteChars: siteEnd };
      return readLoaded(loaded, known.value, null, readSearch);
    }
    if (CONTROL_CHARS.test(text)) return err('control_char');
    recordFragment(text, trace);
    const siteEnd = findSiteEnd(bytes);
    const siteChars = size === text.length ? siteEnd : countChars(bytes, siteEnd);
    const place = findPlace(text.slice(0, siteChars), trace);
    // Others have fewer characters than bytes.
    if (place.ok && siteChars === siteEnd) places.keep(bytes, siteEnd, place);
    return readLoaded({ text, bytes, size, siteEnd, siteChars }, place, trace, readSearch);
  };

  const readParts = (place: Place, path: string, query: string): ParsedUrl => {
    const size = load(query);
    const search = size === 0 ? noSearch(0) : readSearch(bytes, 0);
    if (search === null) throw new RangeError('normalizing a URL gave it more parameters');
    return {
      place,
      encodedPath: path,
      rulePath: resolvePath(path),
      query,
      search,
      bytes,
      text: query,
      queryAt: 0,
      isAscii: true,
      isAsWritten: false,
    };
  };

  return { read, readParts };
}

function readLoaded(
  { text, bytes, size, siteEnd, siteChars }: Loaded,
  place: FoundPlace,
  trace: Trace | null,
  readSearch: SearchReader,
): Result<ParsedUrl, UrlErrorKind> {
  const plainEnd = skipCanonicalPath(bytes, siteEnd);
  const pathEnd = skipTo(bytes, plainEnd, ENDS_PATH | IS_CONTROL);
  const queryAt = pathEnd + 1;
  const search = bytes[pathEnd] === QUESTION ? readSearch(bytes, queryAt) : noSearch(pathEnd);
  if (search === null) return refuse(text, 'too_many_params');
  const { end } = search;
  if (bytes[end] !== HASH || hasControl(bytes, end, size)) return err('control_char');
  if (!place.ok) return place;
  const isAscii = size === text.length;
  const isPathPlain = plainEnd === pathEnd && pathEnd > siteEnd;
  // Without odd characters before its end, text and bytes are at the same places up to there.
  const isCopied = siteChars === siteEnd && skipTo(bytes, plainEnd, IS_ODD_IN_PATH) === pathEnd;
  const encodedPath = isCopied ? text.slice(siteEnd, pathEnd) : encodePath(bytes, siteEnd, pathEnd);
  const rulePath = isPathPlain ? encodedPath : resolvePath(encodedPath);
  if (trace !== null) {
    if (!isCopied) recordStep(trace, 'path_encoding', pathOf(text.slice(siteChars)), encodedPath);
    recordStep(trace, 'path', encodedPath, rulePath);
  }
  return ok({
    place: place.value,
    encodedPath,
    rulePath,
    query: isAscii ? text.slice(queryAt, end) : queryOf(text),
    search,
    bytes,
    text,
    queryAt,
    isAscii,
    isAsWritten: isPathPlain && isCopied && place.value.isAsWritten,
  });
}

function encodePath(bytes: Uint8Array, from: number, to: number): string {
  SHEET.start(bytes);
  SHEET.encode(from, to, PATH);
  return SHEET.read();
}

/** How many characters the first bytes of a text are. */
function countChars(bytes: Uint8Array, end: number): number {
  return UTF8_TEXT.decode(bytes.subarray(0, end)).length;
}

function noSearch(end: number): Search {
  return { pairs: NO_PAIRS, isFull: true, isTelling: false, end };
}

/** What has control characters in it is refused for these, whatever else is wrong. */
function refuse(text: string, error: UrlErrorKind): Result<never, UrlErrorKind> {
  return err(CONTROL_CHARS.test(text) ? 'control_char' : error);
}

function hasControl(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    if ((kindsOf(bytes[at]) & IS_CONTROL) !== 0) return true;
  }
  return false;
}

function recordFragment(text: string, trace: Trace | null): void {
  const hashAt = trace === null ? -1 : text.indexOf('#');
  if (hashAt !== -1) recordStep(trace, 'fragment', text.slice(hashAt), '');
}

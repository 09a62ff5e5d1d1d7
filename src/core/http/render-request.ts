// The question half of the render service's HTTP contract (spec: rendering, "Contract"):
// `POST /render` with this JSON. Both sides use this file, so they cannot disagree. What arrives
// is copied field by field into checked fields; unknown fields are ignored.

import type { WaitEvent } from '../policy/policy.ts';
import { isRecord } from '../records.ts';
import { err, ok, type Result } from '../result.ts';
import { type HeaderList, isFieldName, isFieldValue } from './header-list.ts';

/** Path of the one endpoint. */
export const RENDER_PATH = '/render';

export interface RenderRequest {
  readonly url: string;
  readonly user_agent: string;
  readonly width: number;
  readonly height: number;
  readonly locale: string | null;
  readonly timeout_ms: number;
  readonly soft_timeout_ms: number;
  readonly wait_for: WaitEvent;
  readonly selector: string | null;
  readonly additional_wait_ms: number;
  /** How old a long poll is when the page is no longer kept for it; may be absent. */
  readonly long_poll_after_ms: number;
  readonly blocked_resource_types: readonly string[];
  readonly blocked_patterns: readonly string[];
  readonly strip_scripts: boolean;
  /** Sent with the page's own request only. */
  readonly headers: HeaderList;
  readonly request_id: string;
}

const TEXT_CHARS_MAX = 16_384;
const LIST_ITEMS_MAX = 1_000;
const PIXELS_MAX = 10_000;
const WAIT_MS_MAX = 3_600_000;
/** What a gateway means that doesn't say. */
const LONG_POLL_AFTER_MS = 10_000;
const WAIT_EVENTS: readonly WaitEvent[] = [
  'DOMContentLoaded',
  'load',
  'networkIdle',
  'networkAlmostIdle',
];

/** Checks a parsed request body; the error names the first field that is wrong. */
export function parseRenderRequest(value: unknown): Result<RenderRequest, string> {
  if (!isRecord(value)) return err('not an object');
  const waitFor = WAIT_EVENTS.find((event) => event === value['wait_for']);
  const url = readText(value['url']);
  const userAgent = readText(value['user_agent']);
  const requestId = readText(value['request_id']);
  const width = readInteger(value['width'], PIXELS_MAX);
  const height = readInteger(value['height'], PIXELS_MAX);
  const timeoutMs = readInteger(value['timeout_ms'], WAIT_MS_MAX);
  const softTimeoutMs = readInteger(value['soft_timeout_ms'], WAIT_MS_MAX);
  const additionalWaitMs = readInteger(value['additional_wait_ms'], WAIT_MS_MAX);
  const longPollAfterMs = readInteger(
    value['long_poll_after_ms'] ?? LONG_POLL_AFTER_MS,
    WAIT_MS_MAX,
  );
  const blockedTypes = readTexts(value['blocked_resource_types']);
  const blockedPatterns = readTexts(value['blocked_patterns']);
  const headers = readHeaders(value['headers']);
  const locale = readOptionalText(value['locale']);
  const selector = readOptionalText(value['selector']);
  if (url === null || !/^https?:\/\//.test(url)) return err('url');
  if (userAgent === null || !isFieldValue(userAgent)) return err('user_agent');
  if (requestId === null) return err('request_id');
  if (width === null || height === null) return err('width, height');
  if (timeoutMs === null || softTimeoutMs === null) return err('timeout_ms, soft_timeout_ms');
  if (additionalWaitMs === null) return err('additional_wait_ms');
  if (longPollAfterMs === null) return err('long_poll_after_ms');
  if (waitFor === undefined) return err('wait_for');
  if (blockedTypes === null || blockedPatterns === null) return err('blocked_*');
  if (headers === null) return err('headers');
  if (locale === undefined || selector === undefined) return err('locale, selector');
  if (typeof value['strip_scripts'] !== 'boolean') return err('strip_scripts');
  return ok({
    url,
    user_agent: userAgent,
    width,
    height,
    locale,
    timeout_ms: timeoutMs,
    soft_timeout_ms: softTimeoutMs,
    wait_for: waitFor,
    selector,
    additional_wait_ms: additionalWaitMs,
    long_poll_after_ms: longPollAfterMs,
    blocked_resource_types: blockedTypes,
    blocked_patterns: blockedPatterns,
    strip_scripts: value['strip_scripts'],
    headers,
    request_id: requestId,
  });
}

/** A list of name and value pairs that can be written as header lines, or null. */
export function readHeaders(value: unknown): HeaderList | null {
  if (!Array.isArray(value) || value.length > LIST_ITEMS_MAX) return null;
  const headers: (readonly [string, string])[] = [];
  for (const pair of value) {
    if (!Array.isArray(pair) || pair.length !== 2) return null;
    const [name, text] = [readText(pair[0]), readText(pair[1])];
    if (name === null || text === null) return null;
    if (!isFieldName(name) || !isFieldValue(text)) return null;
    headers.push([name, text]);
  }
  return headers;
}

/** A list of bounded texts, or null. */
export function readTexts(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > LIST_ITEMS_MAX) return null;
  const texts = value.map(readText);
  return texts.every((text) => text !== null) ? texts : null;
}

/** A text or null; undefined when it is neither. An absent field is null. */
export function readOptionalText(value: unknown): string | null | undefined {
  if (value === null || value === undefined) return null;
  return readText(value) ?? undefined;
}

/** A whole number from 0 to `max`, or null. */
export function readInteger(value: unknown, max: number): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
    ? value
    : null;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value.length <= TEXT_CHARS_MAX ? value : null;
}

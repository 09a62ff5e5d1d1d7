// The render contract on the wire: what is written is what is read, and nothing else is read.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRenderAnswer,
  encodeRenderAnswer,
  RENDER_HEAD_BYTES_MAX,
  type RenderHead,
} from '../../../src/core/http/render-answer.ts';
import { parseRenderRequest, type RenderRequest } from '../../../src/core/http/render-request.ts';

const REQUEST: RenderRequest = {
  url: 'https://site.test/',
  user_agent: 'Renderer/1',
  width: 1280,
  height: 800,
  locale: 'de-DE',
  timeout_ms: 30_000,
  soft_timeout_ms: 15_000,
  wait_for: 'networkAlmostIdle',
  selector: null,
  additional_wait_ms: 0,
  long_poll_after_ms: 10_000,
  blocked_resource_types: ['media'],
  blocked_patterns: ['*ads*'],
  strip_scripts: true,
  headers: [['X-Country', 'de']],
  request_id: 'r1',
};

describe('parseRenderRequest', () => {
  it('gives back what was sent, and nothing else', () => {
    const sent: unknown = JSON.parse(JSON.stringify({ ...REQUEST, extra: 1 }));
    expect(parseRenderRequest(sent)).toEqual({ ok: true, value: REQUEST });
  });

  it('fills in what may be absent', () => {
    const { locale: _, selector: _s, long_poll_after_ms: _l, ...rest } = REQUEST;
    expect(parseRenderRequest(rest)).toEqual({ ok: true, value: { ...REQUEST, locale: null } });
  });

  it.each<[string, unknown]>([
    ['url', { url: 'file:///etc/passwd' }],
    ['url', { url: 7 }],
    ['url', { url: `https://a/${'a'.repeat(20_000)}` }],
    ['user_agent', { user_agent: 'a\r\nb' }],
    ['request_id', { request_id: null }],
    ['width, height', { width: 1.5 }],
    ['width, height', { height: 1e9 }],
    ['timeout_ms, soft_timeout_ms', { timeout_ms: -1 }],
    ['timeout_ms, soft_timeout_ms', { soft_timeout_ms: '15' }],
    ['additional_wait_ms', { additional_wait_ms: Number.NaN }],
    ['long_poll_after_ms', { long_poll_after_ms: '10s' }],
    ['wait_for', { wait_for: 'constructor' }],
    ['blocked_*', { blocked_patterns: 'x' }],
    ['blocked_*', { blocked_resource_types: [1] }],
    ['headers', { headers: [['a b', 'c']] }],
    ['headers', { headers: [['a', 'b\nc']] }],
    ['headers', { headers: [['a']] }],
    ['headers', { headers: { a: 'b' } }],
    ['headers', { headers: Array.from({ length: 1_001 }, () => ['a', 'b']) }],
    ['locale, selector', { locale: 3 }],
    ['strip_scripts', { strip_scripts: 'yes' }],
  ])('refuses: %s', (error, changes) => {
    expect(parseRenderRequest({ ...REQUEST, ...(changes as object) })).toEqual({
      ok: false,
      error,
    });
  });

  it.each([[null], [[]], ['x'], [7], [undefined]])('refuses %j', (value) => {
    expect(parseRenderRequest(value).ok).toBe(false);
  });
});

const HEAD: RenderHead = {
  outcome: 'complete',
  status: 200,
  final_url: 'https://site.test/',
  location: null,
  headers: [
    ['content-type', 'text/html'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ],
  timings: { load: 12.5 },
  pending_requests: ['https://slow.test/'],
  console_errors: ['ä'],
  error: null,
};
const HTML = new TextEncoder().encode('<p>ü</p>');

/** A marked answer with these head bytes. */
function frame(head: string, html: Uint8Array = HTML): Uint8Array {
  const bytes = new TextEncoder().encode(head);
  const out = new Uint8Array(4 + bytes.length + html.length);
  new DataView(out.buffer).setUint32(0, bytes.length);
  out.set(bytes, 4);
  out.set(html, 4 + bytes.length);
  return out;
}

describe('render answer', () => {
  it('comes back as it went', () => {
    const decoded = decodeRenderAnswer(encodeRenderAnswer({ head: HEAD, html: HTML }));
    expect(decoded).toEqual({ ok: true, value: { head: HEAD, html: HTML } });
  });

  it('is read where it lies in a larger buffer', () => {
    const bytes = encodeRenderAnswer({ head: HEAD, html: HTML });
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    expect(decodeRenderAnswer(shifted.subarray(3)).ok).toBe(true);
  });

  it.each<[string, object]>([
    ['a partial page', { outcome: 'partial' }],
    ['a redirect', { outcome: 'redirect', status: 301, location: '/x' }],
    ['a failure', { outcome: 'failed', status: 0, error: { code: 'timeout', message: 'm' } }],
    ['no final URL', { final_url: null }],
    ['a timing with a strange name', { timings: JSON.parse('{"__proto__":1}') as object }],
  ])('%s fits', (_what, changes) => {
    const decoded = decodeRenderAnswer(frame(JSON.stringify({ ...HEAD, ...changes })));
    expect(decoded.ok).toBe(true);
  });

  it.each<[string, object]>([
    ['outcome', { outcome: 'done' }],
    ['status', { status: '200' }],
    ['status', { status: 999 }],
    ['status', { status: 304 }],
    ['status', { status: 103 }],
    ['status', { outcome: 'redirect', status: 304, location: '/x' }],
    ['status', { outcome: 'failed', status: 500, error: { code: 'timeout', message: '' } }],
    ['final_url', { final_url: 1 }],
    ['location', { location: [] }],
    ['location', { outcome: 'redirect', status: 301, location: null }],
    ['headers', { headers: { a: 'b' } }],
    ['headers', { headers: [['a', 'b\r\nc']] }],
    ['timings', { timings: { a: 'b' } }],
    ['timings', { timings: { a: -1 } }],
    ['timings', { timings: [] }],
    ['timings', { timings: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, 1])) }],
    ['pending_requests', { pending_requests: null }],
    ['console_errors', { console_errors: [{}] }],
    ['error', { outcome: 'failed', status: 0, error: null }],
    ['error', { error: { code: 'timeout', message: 'm' } }],
    ['error', { outcome: 'failed', status: 0, error: { code: 'other', message: 'm' } }],
    ['error', { outcome: 'failed', status: 0, error: { code: 'timeout' } }],
    ['error', { outcome: 'failed', status: 0, error: 'timeout' }],
  ])('refuses: %s', (error, changes) => {
    const decoded = decodeRenderAnswer(frame(JSON.stringify({ ...HEAD, ...changes })));
    expect(decoded).toEqual({ ok: false, error });
  });

  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['no whole length', new Uint8Array([0, 0, 0])],
    ['a length beyond the end', new Uint8Array([0, 0, 0, 9, 1])],
    ['a head over its limit', frame(`"${'a'.repeat(RENDER_HEAD_BYTES_MAX)}"`)],
    ['an empty head', frame('')],
    ['no JSON', frame('{')],
    ['no object', frame('[]')],
    ['null', frame('null')],
  ])('refuses %s', (_what, bytes) => expect(decodeRenderAnswer(bytes).ok).toBe(false));

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.jsonValue(), (bytes, value) => {
        decodeRenderAnswer(bytes);
        decodeRenderAnswer(frame(JSON.stringify(value), bytes));
        parseRenderRequest(value);
      }),
    );
  });
});

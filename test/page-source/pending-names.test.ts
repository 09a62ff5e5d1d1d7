// What a partial page was waiting for, as it reaches the log: a few names, and nothing secret.
import { expect, test } from 'vitest';
import { buildPage } from '../../src/adapters/render-service/build-page.ts';
import type { RenderHead, RenderOutcome } from '../../src/core/http/render-answer.ts';
import type { PageResult } from '../../src/pipeline/ports.ts';

const LONG = `https://api.test/${'a'.repeat(1_000)}`;

function build(outcome: RenderOutcome, pending: readonly string[]): PageResult {
  const head: RenderHead = {
    outcome,
    status: 200,
    final_url: null,
    location: null,
    headers: [],
    timings: {},
    pending_requests: pending,
    console_errors: [],
    error: null,
  };
  return buildPage({ head, html: Buffer.from('<p>half</p>') }, 'service.test', 1_000);
}

test.each<[string, string, readonly string[]]>([
  ['a path', 'https://api.test/data', ['https://api.test/data']],
  ['a query', 'https://api.test/data?token=secret#part', ['https://api.test/data']],
  ['a password', 'https://me:secret@api.test:8443/', ['https://api.test:8443/']],
  ['a long one', LONG, [LONG.slice(0, 200)]],
  ['a blob', 'blob:https://shop.test/secret', []],
  ['data', 'data:text/plain,secret', []],
  ['no URL', 'secret', []],
])('%s', (_what, url, pending) => {
  expect(build('partial', [url])).toMatchObject({ outcome: 'page', pending });
});

test('the first five, and none of a complete page', () => {
  const urls = Array.from({ length: 20 }, (_, index) => `https://api.test/${index}`);
  expect(build('partial', urls)).toMatchObject({ pending: urls.slice(0, 5) });
  expect(build('complete', urls)).not.toHaveProperty('pending');
});

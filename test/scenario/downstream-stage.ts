// The stage of what caches in front are told: an origin that lets everything be kept, and says so to
// all kinds of caches, and a renderer with all kinds of pages.
import type { RenderHead } from '../../src/core/http/render-answer.ts';
import type { RawRequest } from '../helpers/raw-origin.ts';
import { type Mode, SENT, VARY } from './downstream-rows.ts';
import { answer, openStage, page } from './stage.ts';

export type SiteStage = Awaited<ReturnType<typeof openStage>>;

/** The origin; what it answers has a tag. */
export function answerOfSite({ method, target, head }: RawRequest): string {
  const fields = [...SENT, VARY, 'ETag: "theirs"'];
  if (head.includes('If-None-Match: "theirs"')) {
    return ['HTTP/1.1 304 Not Modified', ...fields, '', ''].join('\r\n');
  }
  const text = answerTo(target, fields);
  return method === 'HEAD' ? text.slice(0, text.indexOf('\r\n\r\n') + 4) : text;
}

function answerTo(target: string, fields: readonly string[]): string {
  switch (target) {
    case '/xhtml':
      return answer(200, 'x', 'Content-Type: application/xhtml+xml', ...fields);
    case '/404':
      return answer(404, 'x', 'Content-Type: text/html', ...fields);
    case '/a.css':
      return answer(200, 'x', 'Content-Type: text/css', ...fields);
    case '/json':
      return answer(200, '{}', 'Content-Type: application/json', ...fields);
    case '/broken/moved':
      return answer(301, '', 'Location: /elsewhere', ...fields);
    case '/broken/file':
      return answer(200, 'x', 'Content-Type: application/pdf', ...fields);
    default:
      return page('from the origin', ...fields);
  }
}

const BYPASS_HOST = `dimensions:
  desktop: {id: 1, width: 800, height: 600, match_ua: [$SearchBots]}
  others: {id: 2, action: bypass, match_ua: ["*Passed-On*"]}
url_rules: [{match: "/app/*", action: bypass}]
bots: {verify: "off"}
`;

export async function openSite(mode: Mode, host: string): Promise<SiteStage> {
  const stage = await openStage({
    engine: 'service',
    hasTestClock: true,
    render: 'cache: {jitter: 0}',
    gateway: `downstream_cache: ${mode}\nheaders: {safe_response_add: [Vary]}\n`,
    host: BYPASS_HOST + host,
    origin: answerOfSite,
  });
  const headers = [...SENT, VARY].map((line): readonly [string, string] => {
    const [name = '', value = ''] = line.split(': ');
    return [name, value];
  });
  const script = (path: string, head: Partial<RenderHead>): void => {
    const fields = [...headers, ...(head.headers ?? [])];
    const scripted = {
      kind: 'page',
      html: 'rendered',
      head: { ...head, headers: fields },
    } as const;
    stage.renderer.script(`https://site.test${path}`, scripted);
  };
  script('/stored', {});
  script('/partial', { outcome: 'partial' });
  script('/503', { status: 503 });
  script('/mine', { headers: [['Set-Cookie', 'a=b']] });
  for (const path of ['/broken', '/broken/moved', '/broken/file']) {
    stage.renderer.script(`https://site.test${path}`, { kind: 'failed', code: 'crashed' });
  }
  return stage;
}

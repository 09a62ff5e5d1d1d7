// Public bug reports about URL normalization, on the wire: the key, what the origin is asked for when
// a page is filled, and that what passes by the cache passes byte for byte.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NORMALIZATION_ROWS, type NormalizationRow, ROWS_HOST } from './normalization-rows.ts';
import { answer, HUMAN, keyOf, openStage, page } from './stage.ts';

let stage: Awaited<ReturnType<typeof openStage>>;

beforeAll(async () => {
  stage = await openStage({
    host: ROWS_HOST,
    origin: ({ target }) => {
      if (/\.jpg|^\/sso/.test(target)) return answer(200, target, 'Content-Type: image/jpeg');
      return page(`page of ${target}`);
    },
  });
});

afterAll(async () => {
  await stage.close();
});

const targetsSince = (start: number): string[] =>
  stage.origin.requests.slice(start).map(({ target }) => target);

describe('a crawler', () => {
  for (const row of NORMALIZATION_ROWS) {
    test(`${row.id}: ${row.what}`, async () => {
      await check(row);
    });
  }
});

async function check(row: NormalizationRow): Promise<void> {
  const start = stage.origin.requests.length;
  if ('ask' in row) {
    const authority = row.authority ?? 'site.test';
    const first = await stage.ask(row.ask, { host: row.host ?? 'site.test' });
    expect(first.header('X-Processed-URL')).toBe(`https://${authority}${row.fill}`);
    expect(first.body).toBe(`page of ${row.fill}`);
    const again = await stage.ask(row.fill, { host: authority });
    expect([again.header('X-Render-Cache'), keyOf(again)]).toEqual(['hit', keyOf(first)]);
    expect(again.body).toBe(first.body);
    expect(targetsSince(start).filter((target) => target !== row.fill)).toEqual([]);
  } else if ('raw' in row) {
    for (let round = 1; round <= 2; round += 1) {
      const reply = await stage.ask(row.raw);
      expect(reply.header('X-Processed-URL')).toBe(`https://site.test${row.named}`);
      expect(reply.header('X-Render-Cache')).toBe('bypass');
    }
    expect(targetsSince(start)).toEqual([row.raw, row.raw]);
  } else if ('refused' in row) {
    for (const target of row.refused) {
      expect([target, (await stage.ask(target)).status]).toEqual([target, row.status]);
    }
    expect(targetsSince(start)).toEqual([]);
  } else {
    const targets = 'oneKey' in row ? row.oneKey : row.ownKeys;
    const keys = new Set<string | null>();
    for (const target of targets) keys.add(keyOf(await stage.ask(target)));
    expect(keys).not.toContain(null);
    expect(keys.size).toBe('oneKey' in row ? 1 : targets.length);
  }
}

describe('a person', () => {
  const asked = NORMALIZATION_ROWS.flatMap((row) => ('ask' in row ? [row.ask] : []));
  const extra = ['/regrets?utm_campaign=c', '/a?', '/?&&', '/%', '/a?b=%zz', '/\\evil'];

  test('41, 53 and all others: every target passes byte for byte', async () => {
    for (const target of [...asked, ...extra].filter((target) => !target.startsWith('/zh-CN'))) {
      const start = stage.origin.requests.length;
      const reply = await stage.ask(target, { userAgent: HUMAN });
      expect(reply.header('X-Render-Source')).toBe('bypass');
      expect(targetsSince(start)).toEqual([target]);
    }
  });
});

describe('explain', () => {
  const rows = [
    {
      id: '31, 13',
      url: 'https://site.test/kb.php?ref=4045&p=a b!&A=1',
      shows: {
        normalized: 'https://site.test/kb.php?A=1&p=a%20b%21',
        stripped: [{ name: 'ref', pattern: 'ref', level: 'default' }],
      },
    },
    {
      id: '57',
      url: 'https://site.test/zh-CN/登录',
      shows: {
        normalized: 'https://site.test/zh-CN/%E7%99%BB%E5%BD%95',
        action: 'render',
        location: null,
      },
    },
  ];
  test.each(rows)('$id: says what became of $url', async ({ url, shows }) => {
    const query = new URLSearchParams({ url, user_agent: 'Googlebot/2.1' });
    const admin = `http://127.0.0.1:${stage.gateway.adminPort}`;
    const response = await fetch(`${admin}/explain?${query.toString()}`);
    expect(await response.json()).toMatchObject(shows);
  });
});

// `normalize`: one answer a line, in order, whatever the bytes; streams with flat memory.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';
import { finishCommand, runCommand, startCommand, withFiles } from './run-command.ts';

async function normalize(input: string | readonly Uint8Array[], ...options: readonly string[]) {
  const chunks = typeof input === 'string' ? [Buffer.from(input)] : input;
  return await runCommand(['normalize', ...options], { stdin: Readable.from(chunks) });
}

const CANONICAL = 'https://example.com/path/page?a=2&z=1';
const CANONICAL_LINE = `96ba2d5b7d32d005\t${CANONICAL}`;

describe('lines', () => {
  // What is read → the lines that come out.
  const CASES: readonly (readonly [string, string, readonly string[]])[] = [
    ['nothing', '', []],
    ['one line', `${CANONICAL}\n`, [CANONICAL_LINE]],
    ['no final line end', CANONICAL, [CANONICAL_LINE]],
    ['CRLF', `${CANONICAL}\r\n${CANONICAL}\r\n`, [CANONICAL_LINE, CANONICAL_LINE]],
    [
      'an empty line',
      `\n${CANONICAL}\n\n`,
      ['error\tmissing_host', CANONICAL_LINE, 'error\tmissing_host'],
    ],
    [
      'dirty and clean',
      `HTTPS://EXAMPLE.com:443//path/./page?z=1&utm_source=x&a=2#top\n${CANONICAL}\n`,
      [CANONICAL_LINE, CANONICAL_LINE],
    ],
    ['a return inside a line', 'example.com/a\rb\n', ['error\tcontrol_char']],
    [
      'every kind of error',
      [
        'https://example.com/\u0001',
        `https://example.com/${'a'.repeat(9_000)}`,
        `https://example.com/?${'a&'.repeat(1_001)}`,
        'ftp://example.com/',
        '/path',
        'https://user@example.com/',
        'https://a..b/',
        'https://example.com:99999/',
      ].join('\n'),
      [
        'error\tcontrol_char',
        'error\ttoo_long',
        'error\ttoo_many_params',
        'error\tunsupported_scheme',
        'error\tmissing_host',
        'error\tcredentials',
        'error\tinvalid_host',
        'error\tinvalid_port',
      ],
    ],
  ];

  test.each(CASES)('%s', async (_name, input, lines) => {
    const { status, stdout, stderr } = await normalize(input);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(lines.map((line) => `${line}\n`).join(''));
  });

  test('a line is whole however its bytes arrive', async () => {
    const bytes = Buffer.from(`https://example.com/ü?é=1\r\n${CANONICAL}`);
    const whole = await normalize([bytes]);
    const single = await normalize([...bytes].map((byte) => Uint8Array.of(byte)));
    expect(single).toEqual(whole);
    expect(whole.stdout.split('\n')).toHaveLength(3);
  });

  test('bytes that are not UTF-8 keep their value', async () => {
    const { stdout } = await normalize([
      Buffer.from('https://example.com/caf\xe9?q=\xff\n', 'latin1'),
    ]);
    expect(stdout.split('\t')[1]).toBe('https://example.com/caf%E9?q=%FF\n');
  });

  test('a line without an end is refused and not kept', async () => {
    const chunk = Buffer.alloc(1 << 20, 'a');
    const before = process.memoryUsage().arrayBuffers;
    const { stdout } = await runCommand(['normalize'], {
      stdin: Readable.from(
        (function* () {
          for (let count = 0; count < 64; count += 1) yield chunk;
          yield Buffer.from(`\n${CANONICAL}`);
        })(),
      ),
    });
    expect(stdout).toBe(`error\ttoo_long\n${CANONICAL_LINE}\n`);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20);
  });
});

test('--json gives one object a line, in the published shape', async () => {
  const { stdout } = await normalize('https://Example.com/?q=test&gclid=1\nftp://x/\n', '--json');
  const [good, bad] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(good).toMatchObject({
    input: 'https://Example.com/?q=test&gclid=1',
    normalized: 'https://example.com/?q=test',
    hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    error: null,
    host: null,
    dimension: null,
    rule: null,
    key: null,
    file: null,
    steps: [
      { step: 'host', before: 'Example.com', after: 'example.com' },
      { step: 'strip', before: 'q=test&gclid=1', after: 'q=test' },
    ],
    stripped: [{ name: 'gclid', pattern: 'gclid', level: 'default' }],
    tracking: {
      strip: true,
      patterns: expect.arrayContaining([{ pattern: 'gclid', level: 'default' }]),
    },
    cached: 'unknown',
  });
  expect(bad).toMatchObject({
    input: 'ftp://x/',
    normalized: null,
    hash: null,
    error: 'unsupported_scheme',
    steps: [],
    stripped: [],
    tracking: null,
  });
  expect(Object.keys(bad)).toEqual(Object.keys(good));
});

test('-c takes hosts and rules out of a configuration', async () => {
  const files = {
    'edge-gateway.yaml': 'render: { engine: origin }\ntracking_params: { params_add: [sid] }\n',
    'hosts.yaml': `hosts:
  - id: 7
    domain: shop.example
    scheme: http
    tracking_params: { params_remove: [ref] }
    url_rules:
      - { match: /search, normalization: { sort_query: false } }
`,
  };
  const urls = [
    'https://shop.example/a?sid=1&ref=2&b=3',
    'shop.example/search?b=1&sid=1&a=2',
    'https://other.example/?sid=1&ref=2&b=3',
  ];
  await withFiles(files, async (folder) => {
    const options = ['-c', join(folder, 'edge-gateway.yaml')];
    const { stdout } = await normalize(urls.join('\n'), ...options);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[1]),
    ).toEqual([
      'http://shop.example/a?b=3&ref=2',
      'http://shop.example/search?b=1&a=2',
      'https://other.example/?b=3',
    ]);
    const { stdout: json } = await normalize(urls[1] ?? '', '--json', ...options);
    expect(JSON.parse(json)).toMatchObject({
      host: { id: 7, domain: 'shop.example' },
      rule: { id: 'rule_1', match: '/search' },
    });
  });
});

describe('as a process', () => {
  test('200,000 URLs through a small heap, in order', async () => {
    const count = 200_000;
    // Only what streams gets by with this heap: the input and the output are 20 MB each.
    const child = startCommand(['normalize'], ['--max-old-space-size=64']);
    const finished = finishCommand(child);
    for (let from = 0; from < count; from += 1_000) {
      let block = '';
      for (let index = from; index < from + 1_000; index += 1) {
        block += `https://Example.com/products/${index}?utm_source=news&color=blue&page=${index % 7}&x=%61\n`;
      }
      if (!child.stdin.write(block)) await once(child.stdin, 'drain');
    }
    child.stdin.end();
    const { status, stdout, stderr } = await finished;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(count);
    const misplaced = lines.findIndex(
      (line, index) =>
        !line.endsWith(`\thttps://example.com/products/${index}?color=blue&page=${index % 7}&x=a`),
    );
    expect(misplaced).toBe(-1);
  }, 120_000);

  test('a reader that has seen enough ends it quietly', async () => {
    const child = startCommand(['normalize']);
    child.stdin.on('error', () => undefined);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const exit = once(child, 'exit');
    child.stdout.once('data', () => child.stdout.destroy());
    const urls = `${CANONICAL}\n`.repeat(2_000);
    const feeding = new AbortController();
    void exit.then(() => feeding.abort());
    while (!feeding.signal.aborted) {
      if (!child.stdin.write(urls)) {
        await Promise.race([once(child.stdin, 'drain').catch(() => undefined), exit]);
      }
    }
    expect(await exit).toEqual([0, null]);
    expect(stderr).toBe('');
  });

  test('output that cannot be written is a failure in one line', async () => {
    const full = openSync('/dev/full', 'w');
    const args = [PROGRAM, 'normalize'];
    const { status, stderr } = spawnSync(process.execPath, args, {
      input: CANONICAL,
      stdio: ['pipe', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^edge-gateway: standard output: ENOSPC[^\n]*\n$/);
  });
});

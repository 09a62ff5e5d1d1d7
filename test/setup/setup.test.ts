// The set-up scripts, where they could be wrong without anyone noticing: what is counted, what is
// said last, and whether a taken port is seen.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { printInvitation } from './invitation.mjs';
import { findBusyPort } from './ports.mjs';
import { run } from './run.mjs';
import { countResults, report } from './tests.mjs';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const clean = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };

function testFile(status: string, ...assertions: readonly string[]): unknown {
  return { status, assertionResults: assertions.map((one) => ({ status: one })) };
}

describe('counting', () => {
  test.each([
    // what, vitest's status, its report, passed, failed, skipped
    ['all well', 0, { ...clean, testResults: [testFile('passed', 'passed')] }, 3, 0, 0],
    ['a skipped test', 0, { ...clean, numPendingTests: 2, testResults: [] }, 3, 0, 2],
    [
      'a failed test counts once, not its file too',
      1,
      { ...clean, numFailedTests: 1, testResults: [testFile('failed', 'failed', 'passed')] },
      3,
      1,
      0,
    ],
    ['a file that did not load', 1, { ...clean, testResults: [testFile('failed')] }, 3, 1, 0],
    ['an error outside a test', 1, { ...clean, testResults: [] }, 3, 1, 0],
    ['no test at all', 0, { ...clean, numPassedTests: 0, testResults: [] }, 0, 1, 0],
    ['no report', 134, null, 0, 1, 0],
  ])('%s', (_what, status, json, passed, failed, skipped) => {
    expect(countResults(status, json)).toMatchObject({ passed, failed, skipped });
  });
});

describe('the last line', () => {
  test.each([
    // checks, tests, last line, exit status
    [[true, true], { passed: 5, failed: 0, skipped: 0 }, '7 passed, 0 failed', 0],
    [[true, false], { passed: 5, failed: 0, skipped: 0 }, '6 passed, 1 failed', 1],
    [[], { passed: 5, failed: 2, skipped: 1 }, '5 passed, 2 failed', 1],
  ])('%j %j → %s', (checks, tests, line, status) => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    const results = checks.map((passed, index) => ({ name: `check ${index}`, passed }));
    expect(report(results, tests)).toBe(status);
    expect(log.mock.lastCall).toEqual([line]);
  });
});

test.each([
  [undefined, './data'],
  ['', './data'],
  ['/tmp/pages', '/tmp/pages'],
])('EDGE_GATEWAY_DATA=%s: pages are stored in %s', (value, folder) => {
  vi.stubEnv('EDGE_GATEWAY_DATA', value);
  const log = vi.spyOn(console, 'log').mockReturnValue();
  printInvitation(8080, 9090, 'chromium');
  expect(log.mock.lastCall?.[0]).toContain(`It is stored in ${folder}, also over a restart`);
});

test('a taken port is found, a free one is not', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await findBusyPort([{ port: 0 }, { port }])).toEqual({ port });
  server.close();
  await once(server, 'close');
  expect(await findBusyPort([{ port }])).toBeUndefined();
});

describe('running a program', () => {
  test.each([
    ['ends well', process.execPath, ['-e', ''], 0],
    ['ends badly', process.execPath, ['-e', 'process.exit(3)'], 3],
    ['is killed', process.execPath, ['-e', 'process.kill(process.pid, "SIGKILL")'], 1],
    ['is missing', 'no-such-program-here', [], 127],
  ])('that %s', async (_what, command, args, status) => {
    expect(await run(command, args)).toBe(status);
  });
});

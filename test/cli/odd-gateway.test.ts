// Commands that ask a gateway, when what answers there is none: it says nothing, a byte now and then,
// something else, or what would control a terminal.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { askAdmin } from '../../src/cli/ask-admin.ts';
import { type CommandResult, runCommand, withFiles } from './run-command.ts';

const URL_OF_SITE = 'http://site.test/';
const COMMANDS = {
  health: ['health'],
  reload: ['reload'],
  purge: ['purge', '--all'],
  explain: ['explain', URL_OF_SITE],
  recache: ['recache', URL_OF_SITE],
  warm: ['warm', '-'],
} as const;
type CommandName = keyof typeof COMMANDS;
const NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** Runs a command whose files have an error, so that it asks; each asks what has this listener. */
async function askOdd(
  name: CommandName,
  answer: RequestListener,
  options: readonly string[] = [],
): Promise<CommandResult> {
  const port = await listenOdd(answer);
  const text = `admin: {listen: "127.0.0.1:${port}"}\nrender: {engine: nope}\n`;
  return await withFiles({ 'edge-gateway.yaml': text }, async (folder) => {
    const argv = [...COMMANDS[name], ...options, '-c', `${folder}/edge-gateway.yaml`];
    return await runCommand(argv, { stdin: Readable.from([`${URL_OF_SITE}\n`]) });
  });
}

async function listenOdd(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Timeouts then come when the test says so. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const json = (value: unknown, status = 200): RequestListener => {
  return (_request, response) => void response.writeHead(status).end(JSON.stringify(value));
};

describe('who never answers is given up', () => {
  // Command → seconds, and whether it is told before that it takes long.
  const ROWS = [
    ['health', 4, false],
    ['explain', 10, true],
    ['warm', 10, false],
    ['recache', 120, true],
    ['purge', 120, true],
    ['reload', 120, true],
  ] as const;
  /** Something each half second that is no answer yet. */
  const drip: RequestListener = (_request, response) => {
    response.flushHeaders();
    const timer = setInterval(() => response.write(' '), 500);
    response.on('close', () => clearInterval(timer));
  };

  test.each(ROWS)('%s: silent, after %i s', async (name, seconds, isTold) => {
    await expectGivenUp(name, () => undefined, seconds, isTold);
  });

  test.each(ROWS.filter(([name]) => name !== 'warm'))(
    '%s: a byte now and then, after %i s',
    async (name, seconds, isTold) => await expectGivenUp(name, drip, seconds, isTold),
  );

  test('a stream: the head, and then nothing that says something', async () => {
    const listen = { host: '127.0.0.1', port: await listenOdd(drip) };
    const { values } = await askAdmin({ listen, token: null }, { method: 'POST', path: '/warm' });
    holdTime();
    let reason = '';
    values[Symbol.asyncIterator]()
      .next()
      .catch((cause: unknown) => {
        reason = String(cause);
      });
    await untilTurn(() => {
      vi.advanceTimersByTime(60_000);
      return reason !== '';
    });
    expect(reason).toContain('(admin.listen) has said nothing for 1800 s');
  });
});

/** The clock runs ahead as soon as it is asked: nobody waits for it. */
async function expectGivenUp(
  name: CommandName,
  answer: RequestListener,
  seconds: number,
  isTold: boolean,
): Promise<void> {
  holdTime();
  let isAsked = false;
  const running = askOdd(name, (request, response) => {
    isAsked = true;
    answer(request, response);
  });
  await untilTurn(() => isAsked);
  const { status, stdout, stderr } = await forward(running, 1_000);
  expect({ status, stdout }).toEqual({ status: 1, stdout: name === 'warm' ? stdout : '' });
  expect(stderr).toContain(`(admin.listen) has not answered in ${seconds} s`);
  expect(stderr.includes('it may still do what it was asked')).toBe(
    !['health', 'explain'].includes(name),
  );
  expect(stderr.includes('edge-gateway: still waiting for the gateway at ')).toBe(isTold);
}

/** Turns of the loop; timers stand still. */
async function untilTurn(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error('in vain');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets time pass in steps, with turns between them, until the command has ended. */
async function forward(running: Promise<CommandResult>, stepMs: number): Promise<CommandResult> {
  let ended: CommandResult | null = null;
  void running.then((result) => {
    ended = result;
  });
  await untilTurn(() => {
    vi.advanceTimersByTime(stepMs);
    return ended !== null;
  });
  return await running;
}

/** Types that no gateway answers with. */
const WRONG = JSON.parse(`{"status": "ok", "checks": [{}], "config": 5, "applied": true,
  "diagnostics": {}, "needs_restart": [null, {}], "entries": "a", "hosts": [null],
  "input": "x", "action": "x", "cached": "x", "steps": [null], "stripped": 3, "dropped": [],
  "accepted": 1, "pages": 1, "refused": "none"}`);

test.each(NAMES.flatMap((name) => [[name, []] as const, [name, ['--json']] as const]))(
  '%s %j: an answer with wrong types is refused',
  async (name, options) => {
    if (name === 'recache' && options.length > 0) return;
    const { status, stdout, stderr } = await askOdd(name, json(WRONG), options);
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).toContain('answers oddly');
  },
);

describe('nothing controls a terminal', () => {
  const EVIL = '\u001b[2J\u009b31m\u007f\rx';
  const SHOWN = '\\u001b[2J\\u009b31m\\u007f\\u000dx';
  const EXPLAINED = {
    ...JSON.parse(`{"steps": [], "stripped": [], "dropped": [], "learned": null, "bot": null,
      "error": "not_http", "host": null, "dimension": null, "rule": null, "action": "bypass",
      "status": null, "key": null, "file": null, "cached": "none", "partial": false,
      "would": "bypass", "may_keep": false, "downstream": null}`),
    input: EVIL,
    reason: EVIL,
    location: EVIL,
  };
  // Command → an answer that it takes.
  const ANSWERS: Readonly<Record<CommandName, unknown>> = {
    health: { status: EVIL, checks: { [EVIL]: EVIL } },
    reload: { applied: true, diagnostics: [EVIL], needs_restart: [EVIL] },
    purge: { id: 1, entries: 1, newer: 0, url: EVIL },
    explain: EXPLAINED,
    recache: { accepted: 1, pages: 1, refused: [{ url: EVIL, reason: EVIL }] },
    warm: { url: URL_OF_SITE, refused: EVIL },
  };

  test.each(NAMES)('%s: an answer', async (name) => {
    const { stdout, stderr } = await askOdd(name, json(ANSWERS[name]));
    expectTame(`${stdout}${stderr}`);
    expect(`${stdout}${stderr}`).toContain(SHOWN);
  });

  test.each(NAMES)('%s: a refusal', async (name) => {
    const { status, stdout, stderr } = await askOdd(name, json({ error: { message: EVIL } }, 500));
    expect(status).toBe(1);
    expectTame(`${stdout}${stderr}`);
    expect(stderr).toContain(SHOWN);
  });

  test.each(NAMES.filter((name) => name !== 'recache'))('%s --json: the value', async (name) => {
    const { stdout } = await askOdd(name, json(ANSWERS[name]), ['--json']);
    expectTame(stdout);
    expect(JSON.stringify(JSON.parse(stdout.split('\n')[0] ?? ''))).toContain(
      JSON.stringify(EVIL).slice(1, -1),
    );
  });
});

function expectTame(text: string): void {
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
}

test('a gateway that works on long is waited for', async () => {
  holdTime();
  let finish = (): void => undefined;
  const running = askOdd('reload', (_request, response) => {
    finish = () => {
      response.end(JSON.stringify({ applied: true, diagnostics: [], needs_restart: [] }));
    };
  });
  const before = finish;
  await untilTurn(() => finish !== before);
  vi.advanceTimersByTime(100_000);
  vi.useRealTimers();
  finish();
  const { status, stdout, stderr } = await running;
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'reloaded\n' });
  expect(stderr).toMatch(/^edge-gateway: still waiting for the gateway at 127\.0\.0\.1:\d+ .*\n$/);
});

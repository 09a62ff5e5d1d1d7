// Reload while serving: the new configuration counts at once and as a whole, a broken one changes
// nothing and is told with its place, and no request is lost or sees half of two.
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { HUMAN, hostsText, page, type Stage, setStage } from './stage.ts';

const BLOCKED = 'url_rules: [{id: shut, match: /page, action: status_410}]\n';
const UNWATCHED = 'server:\n  watch_config: false\n';

interface ReloadAnswer {
  readonly applied: boolean;
  readonly diagnostics: readonly string[];
  readonly needs_restart: readonly string[];
}

const write = (stage: Stage, host: string): Promise<void> =>
  stage.gateway.write({ hosts: hostsText(stage.origin.url, { host }) });

async function postReload(
  stage: Stage,
): Promise<{ readonly status: number; readonly body: ReloadAnswer }> {
  const response = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}/reload`, {
    method: 'POST',
  });
  return { status: response.status, body: (await response.json()) as ReloadAnswer };
}

const status = async (stage: Stage): Promise<number> => (await stage.ask('/page')).status;

describe('a new rule counts', () => {
  test('after a reload as SIGHUP does it', async () => {
    const stage = await setStage({ gateway: UNWATCHED });
    expect(await status(stage)).toBe(200);
    await write(stage, BLOCKED);
    expect(await status(stage)).toBe(200);
    expect(await stage.gateway.reload()).toBe(true);
    expect(await status(stage)).toBe(410);
  });

  test('after POST /reload, which says so', async () => {
    const stage = await setStage({ gateway: UNWATCHED });
    await write(stage, BLOCKED);
    const { status: code, body } = await postReload(stage);
    expect([code, body]).toEqual([200, { applied: true, diagnostics: [], needs_restart: [] }]);
    expect(await status(stage)).toBe(410);
  });

  test('as soon as the file changes, again and again', async () => {
    const stage = await setStage();
    await write(stage, BLOCKED);
    await waitUntil('the rule counts', async () => (await status(stage)) === 410);
    await write(stage, '');
    await waitUntil('it is gone', async () => (await status(stage)) === 200);
  });

  test('to all of the cache: what is stored stays, what is forbidden is not served', async () => {
    const stage = await setStage({ gateway: UNWATCHED });
    await status(stage);
    await write(stage, BLOCKED);
    await stage.gateway.reload();
    expect(await status(stage)).toBe(410);
    await write(stage, '');
    await stage.gateway.reload();
    expect((await stage.ask('/page')).header('X-Render-Cache')).toBe('hit');
    expect(stage.origin.requests.length).toBe(1);
  });

  test('what needs a restart is said', async () => {
    const stage = await setStage({ gateway: UNWATCHED });
    await stage.gateway.write({
      gateway: 'server:\n  watch_config: false\n  limits: {page_bytes: 1MiB}\n',
    });
    expect((await postReload(stage)).body.needs_restart).toEqual(['server.limits']);
  });
});

describe('a broken file', () => {
  const broken = [
    ['no YAML', 'url_rules: [{', /hosts\.yaml:\d+:\d+: /],
    ['an unknown key', 'url_rulez: []\n', /hosts\.yaml:5:5: .*url_rulez.*url_rules/s],
    ['a bad pattern', 'url_rules: [{match: "~(", action: block}]\n', /hosts\.yaml:5:\d+: /],
  ] as const;

  test.each(broken)('(%s) leaves the old configuration, and its place is told', async (...row) => {
    const [, host, place] = row;
    const stage = await setStage({ gateway: UNWATCHED });
    await write(stage, host);
    const { status: code, body } = await postReload(stage);
    expect([code, body.applied]).toEqual([422, false]);
    expect(body.diagnostics.join('\n')).toMatch(place);
    expect(await status(stage)).toBe(200);
    const errors = stage.gateway.log.filter(({ level }) => level === 'error');
    expect(errors).toMatchObject([{ errors: body.diagnostics }]);
    expect(JSON.stringify(errors)).not.toContain('stack');
    await write(stage, BLOCKED);
    expect(await stage.gateway.reload()).toBe(true);
    expect(await status(stage)).toBe(410);
  });

  test('is counted in /ready, which stays ready, and told by the metrics', async () => {
    const stage = await setStage({ gateway: UNWATCHED });
    const admin = `http://127.0.0.1:${stage.gateway.adminPort}`;
    const ready = async (): Promise<unknown> => {
      const response = await fetch(`${admin}/ready`);
      const { status: word, config } = (await response.json()) as Record<string, unknown>;
      return { code: response.status, word, config };
    };
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${admin}/metrics`)).text();
      return Number(new RegExp(`^edge_gateway_config_${name} (.*)$`, 'm').exec(text)?.[1]);
    };
    const read_at = expect.stringMatching(/^\d{4}-.*Z$/);
    const fine = { code: 200, word: 'ready', config: { current: true, errors: 0, read_at } };
    expect(await ready()).toEqual(fine);
    expect(await metric('last_reload_successful')).toBe(1);
    const since = await metric('last_reload_success_timestamp_seconds');
    expect(since).toBeGreaterThan(1_700_000_000);
    await write(stage, 'url_rulez: []\nnonsense: 1\n');
    await stage.gateway.reload();
    expect(await ready()).toEqual({ ...fine, config: { current: false, errors: 2, read_at } });
    expect(await metric('last_reload_successful')).toBe(0);
    expect(await metric('last_reload_success_timestamp_seconds')).toBe(since);
    await write(stage, BLOCKED);
    await stage.gateway.reload();
    expect(await ready()).toEqual(fine);
    expect(await metric('last_reload_successful')).toBe(1);
  });

  test('that is watched is told once, and the next good one counts', async () => {
    const stage = await setStage();
    await write(stage, 'url_rulez: []\n');
    const errors = (): number => stage.gateway.log.filter(({ level }) => level === 'error').length;
    await waitUntil('the error is logged', () => errors() > 0);
    expect(await status(stage)).toBe(200);
    await write(stage, BLOCKED);
    await waitUntil('the rule counts', async () => (await status(stage)) === 410);
    expect(errors()).toBe(1);
  });
});

// The files are written and the gateway is told at once, as a deployment does.
test('what was asked for is not told again when the files are seen to have changed', async () => {
  const stage = await setStage();
  const said = (): number => stage.gateway.log.filter(({ msg }) => isOfReload(msg)).length;
  await write(stage, BLOCKED);
  expect(await stage.gateway.reload()).toBe(true);
  await write(stage, 'url_rulez: []\n');
  expect(await stage.gateway.reload()).toBe(false);
  const seenBy = performance.now() + WATCHED_MS;
  await waitUntil('the watcher has looked', () => performance.now() > seenBy);
  expect(said()).toBe(2);
  await write(stage, versioned(1));
  await waitUntil('the watcher reloads', () => said() > 2);
  expect((await stage.ask('/rule')).status).toBe(411);
});

/** In which a watcher that is not kept from it has looked several times. */
const WATCHED_MS = 1_000;
const isOfReload = (msg: unknown): boolean => typeof msg === 'string' && msg.startsWith('reload');

test('ten reloads under load lose no request, and none sees half of two', async () => {
  const stage = await setStage({
    gateway: UNWATCHED,
    origin: () => page('page'),
    host: versioned(0),
  });
  let isLoading = true;
  let count = 0;
  const seen = new Set<string>();
  const load = async (userAgent?: string): Promise<void> => {
    while (isLoading) {
      count += 1;
      const target = `/rule?n=${count}`;
      const reply = await stage.ask(target, userAgent === undefined ? {} : { userAgent });
      // Status and header come from two places of one rule.
      seen.add(`${reply.status} ${reply.header('X-Version')} ${reply.header('X-Matched-Rule')}`);
      if (userAgent !== undefined) continue;
      const cached = await stage.ask('/stored');
      expect([cached.status, cached.body]).toEqual([200, 'page']);
    }
  };
  const clients = [load(), load(), load(), load(HUMAN)];
  for (let version = 1; version <= 10; version += 1) {
    await write(stage, versioned(version));
    expect(await stage.gateway.reload()).toBe(true);
    const before = count;
    await waitUntil('requests go on', () => count > before + 8);
  }
  isLoading = false;
  await Promise.all(clients);
  const whole = Array.from(
    { length: 11 },
    (_, version) => `${410 + version} ${version} v${version}`,
  );
  expect([...seen].filter((line) => !whole.includes(line))).toEqual([]);
  expect(seen.size).toBeGreaterThan(8);
  expect(stage.gateway.log.filter(({ msg }) => msg === 'defect')).toEqual([]);
});

/** A rule whose status, header and id tell the version. */
function versioned(version: number): string {
  const answer = `status: {code: ${410 + version}, headers: {X-Version: "${version}"}}`;
  return `url_rules: [{id: v${version}, match: /rule, action: status, ${answer}}]\n`;
}

// What only counts after a restart is told by its name, and kept by workers that come later; all
// else takes effect at once.
import { describe, expect, test } from 'vitest';
import {
  findRestartSettings,
  keepStartSettings,
  renewWorkerSettings,
} from '../../src/compose/restart-settings.ts';
import type { Settings } from '../../src/config/settings.ts';
import { loadValid } from '../config/helpers.ts';

type Change = (settings: Settings) => Settings;

const LISTEN = { host: '127.0.0.1', port: 1_234 };
const TLS = { listen: LISTEN, certFile: '/a.pem', keyFile: '/a.key' };

const { settings: plain } = await loadValid({});
const base: Settings = { ...plain, server: { ...plain.server, tls: TLS } };

const inServer = (part: Partial<Settings['server']>): Change => {
  return (settings) => ({ ...settings, server: { ...settings.server, ...part } });
};
const inRender = (part: Partial<Settings['render']>): Change => {
  return (settings) => ({ ...settings, render: { ...settings.render, ...part } });
};

const AT_START: readonly (readonly [string, Change])[] = [
  ['server.listen', inServer({ listen: LISTEN })],
  ['server.tls', inServer({ tls: null })],
  ['server.tls', inServer({ tls: { ...TLS, listen: { ...LISTEN, port: 1 } } })],
  ['server.limits', inServer({ limits: { ...base.server.limits, connectionsMax: 1 } })],
  ['server.workers', inServer({ workers: 7 })],
  ['integration', (settings) => ({ ...settings, integration: { listen: LISTEN } })],
  ['admin.listen', (settings) => ({ ...settings, admin: { ...settings.admin, listen: LISTEN } })],
  ['redis', (settings) => ({ ...settings, redis: { kind: 'single', url: 'redis://a.test' } })],
  ['storage', (settings) => ({ ...settings, storage: { ...settings.storage, bytesMax: 1 } })],
  ['memory', (settings) => ({ ...settings, memory: { bytesMax: 1 } })],
  [
    'render.chromium.executable_path',
    inRender({ chromium: { ...base.render.chromium, executablePath: '/opt/chromium' } }),
  ],
];

const AT_ONCE: readonly (readonly [string, Change])[] = [
  ['nothing', (settings) => settings],
  ['another certificate', inServer({ tls: { ...TLS, certFile: '/b.pem', keyFile: '/b.key' } })],
  ['the budget of a request', inServer({ timeoutMs: 1 })],
  ['trusted proxies', inServer({ trustedProxies: ['10.0.0.0/8'] })],
  ['the admin token', (settings) => ({ ...settings, admin: { ...settings.admin, token: 'b' } })],
  ['the engine', inRender({ engine: 'off' })],
  ['tabs and queue', inRender({ chromium: { ...base.render.chromium, tabs: 9, queueMax: 1 } })],
  [
    'a render service and its token',
    inRender({ service: { urls: ['http://a.test'], token: 'b', protocol: 'edge-gateway' } }),
  ],
  ['the log level', (settings) => ({ ...settings, log: { level: 'debug' } })],
];

describe('after a restart', () => {
  test.each(AT_START)('%s: told, and kept', (name, change) => {
    const changed = change(base);
    expect(findRestartSettings(base, changed)).toEqual([name]);
    expect(keepStartSettings(changed, base)).toEqual(base);
  });

  test('all of them at once', () => {
    const changed = AT_START.reduce((settings, [, change]) => change(settings), base);
    const names = new Set(AT_START.map(([name]) => name));
    expect(findRestartSettings(base, changed)).toEqual([...names]);
    expect(keepStartSettings(changed, base)).toEqual(base);
  });

  test('limits are for new workers', () => {
    const limits = { ...base.server.limits, connectionsMax: 1 };
    const renewed = renewWorkerSettings(inServer({ limits, workers: 7 })(base), base);
    expect(renewed).toEqual(inServer({ limits })(base));
  });
});

describe('at once', () => {
  test.each(AT_ONCE)('%s: not told, and not kept', (_name, change) => {
    const changed = change(base);
    expect(findRestartSettings(base, changed)).toEqual([]);
    expect(keepStartSettings(changed, base)).toEqual(changed);
  });
});

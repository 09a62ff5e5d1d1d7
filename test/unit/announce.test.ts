// What the log says of a start, in which order: the ports, what is waited for, and how it came out.
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from '../../src/adapters/telemetry/create-log.ts';
import { announce } from '../../src/compose/announce.ts';
import { createCopyReader } from '../../src/config/config-reader.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Done } from '../../src/pipeline/ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const READY: Done<void> = { state: 'done', value: undefined };
const STARTING: Done<void> = { state: 'unavailable', reason: 'renderer_starting' };
const FAILED: Done<void> = { state: 'unavailable', reason: 'renderer_failed: no browser' };
const throwIt = (error: unknown): void => {
  throw error;
};
const WAITS = 'info listening';
const NOTHING = 'warn nothing can be rendered yet';

test.each([
  ['the origin renders', 'origin', [], ['info ready']],
  ['the browser was there sooner than the ports', 'chromium', [READY], ['info ready']],
  ['the browser comes', 'chromium', [STARTING, READY], [WAITS, 'info ready']],
  ['the browser fails', 'chromium', [STARTING, FAILED], [WAITS, NOTHING, 'info ready']],
  ['it is too late', 'chromium', [STARTING, STARTING], [WAITS, NOTHING, 'info ready']],
])('%s', async (_what, engine, states, expected) => {
  const told: string[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const { level, msg } = JSON.parse(chunk.toString()) as { level: string; msg: string };
      told.push(`${level} ${msg}`);
      done();
    },
  });
  const reader = createCopyReader({
    texts: {
      '/site/edge-gateway.yaml': `render: {engine: ${engine}}`,
      '/site/hosts.yaml': 'hosts: [{id: 1, domain: example.com}]',
    },
    hostFiles: ['/site/hosts.yaml'],
  });
  const { config } = await loadConfig('/site/edge-gateway.yaml', {}, reader);
  if (config === null) throw new Error('the configuration does not load');
  const answers: Done<void>[] = [...states];
  announce({
    config,
    addresses: { listen: ['127.0.0.1:8080'], port: 8080, integrationPort: null },
    foundation: {
      log: createLog('info', output),
      renderer: { untilReady: async () => answers.shift() ?? FAILED },
      lasting: { pipeline: { onDefect: throwIt } },
    },
    isStopping: () => false,
  });
  await waitUntil('it is ready', () => told.at(-1) === 'info ready');
  expect(told).toEqual(expected);
});

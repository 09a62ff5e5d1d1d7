// Connections to origins: dead ones, refused ones, several of them.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PageSource } from '../../src/pipeline/ports.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { createSource } from './origin-stage.ts';
import { noAbort, pageJob, pageOf, wordOf } from './page-jobs.ts';
import { plainAnswer, type ScriptedOrigin, startScriptedOrigin } from './scripted-origin.ts';

describe('connections of the page source origin', () => {
  let origin: ScriptedOrigin;
  let source: PageSource;
  beforeEach(async () => {
    origin = await startScriptedOrigin();
    source = createSource();
  });
  afterEach(async () => {
    await source.close();
    await origin.close();
  });
  const get = (job = pageJob([origin.url])) => source.get(job, noAbort());

  describe('a keep-alive connection that died', () => {
    // Whether a connection is used again is undici's choice; one turn of the event loop later it is.
    const getUntil = async (isDone: () => boolean): Promise<string> => {
      let word = '';
      for (let i = 0; i < 50 && !isDone(); i += 1) {
        word = wordOf(await get());
        await setImmediate();
      }
      expect(isDone()).toBe(true);
      return word;
    };

    it('costs one more request and nothing else', async () => {
      let died = 0;
      origin.respond(({ socket, requestNoOnSocket }) => {
        if (requestNoOnSocket === 2 && died === 0) {
          died = origin.heads.length;
          socket.resetAndDestroy();
        } else socket.write(plainAnswer('ok'));
      });
      expect(await getUntil(() => died > 0)).toBe('200');
      expect(origin.heads).toHaveLength(died + 1);
    });

    it('is tried again once only', async () => {
      let died = 0;
      origin.respond(({ socket, requestNoOnSocket }) => {
        if (requestNoOnSocket === 2 && died === 0) died = origin.heads.length;
        if (died > 0) socket.end();
        else socket.write(plainAnswer('ok'));
      });
      expect(await getUntil(() => died > 0)).toBe('connection_terminated');
      expect(origin.heads).toHaveLength(died + 1);
    });

    it('is not tried again once a byte of the answer has come', async () => {
      let died = 0;
      origin.respond(({ socket, requestNoOnSocket }) => {
        if (requestNoOnSocket === 2) died = origin.heads.length;
        if (died > 0) socket.end('HTTP/1.1 2');
        else socket.write(plainAnswer('ok'));
      });
      expect(await getUntil(() => died > 0)).toBe('http_response_incomplete');
      expect(origin.heads).toHaveLength(died);
    });
  });

  it('believes no answer that came before it was asked for', async () => {
    origin.respond(({ socket, requestNo }) => {
      socket.write(plainAnswer('ok') + (requestNo === 1 ? plainAnswer('poison') : ''));
    });
    const bodies: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      bodies.push(pageOf(await get()).body.toString());
      await setImmediate();
    }
    expect(new Set(bodies)).toEqual(new Set(['ok']));
  });

  describe('several origins', () => {
    let other: ScriptedOrigin;
    beforeEach(async () => {
      other = await startScriptedOrigin();
    });
    afterEach(() => other.close());

    it('shares the requests among them', async () => {
      const job = pageJob([origin.url, other.url]);
      for (let i = 0; i < 10; i += 1) pageOf(await get(job));
      expect([origin.heads.length, other.heads.length]).toEqual([5, 5]);
    });

    it('asks the next when one cannot be reached, and leaves that out for a while', async () => {
      await other.close();
      const job = pageJob([origin.url, other.url]);
      for (let i = 0; i < 10; i += 1) pageOf(await get(job));
      expect(origin.heads).toHaveLength(10);
    });

    it.each([
      [
        'a 503',
        (turn: { socket: { write: (bytes: string) => void } }) => {
          turn.socket.write(plainAnswer('', '503 X'));
        },
        '503',
      ],
      [
        'nonsense',
        (turn: { socket: { write: (bytes: string) => void } }) => {
          turn.socket.write('nonsense\r\n\r\n');
        },
        'http_protocol_error',
      ],
    ])('does not carry %s on to the next', async (_what, turn, expected) => {
      origin.respond(turn);
      other.respond(turn);
      expect(wordOf(await get(pageJob([origin.url, other.url])))).toBe(expected);
      expect(origin.heads.length + other.heads.length).toBe(1);
    });
  });

  it('answers at the deadline although every connection is taken', async () => {
    let held = 0;
    let isOver = false;
    origin.respond(() => {
      if (!isOver) held += 1;
    });
    const job = pageJob([origin.url], { renderChanges: { timeoutMs: 1_000 } });
    const getOne = async (): Promise<string> => {
      const word = wordOf(await get(job));
      isOver = true;
      return word;
    };
    const words = await Promise.all(Array.from({ length: 100 }, getOne));
    expect(new Set(words)).toEqual(new Set(['http_response_timeout']));
    expect(held).toBeLessThanOrEqual(64);
  });

  it('G15: refuses a certificate nobody vouches for', async () => {
    let requests = 0;
    const server = createServer(makeCertificate('localhost'), (_request, response) => {
      requests += 1;
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await get(pageJob([`https://localhost:${port}`]))).toEqual({
      outcome: 'failed',
      reason: 'tls_certificate_error',
      detail: 'DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate',
    });
    expect(requests).toBe(0);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('says whether it is open', async () => {
    expect((await source.check()).state).toBe('done');
    await source.close();
    expect((await source.check()).state).toBe('unavailable');
  });
});

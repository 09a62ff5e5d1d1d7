// HTTPS: HTTP/2 and HTTP/1.1 clients get the same pages and the same bypass, and a certificate that
// was replaced counts after a reload.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { valuesOf } from '../helpers/raw-origin.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { answer, BOT, HUMAN, page, type Stage, type StageOptions, setStage } from './stage.ts';

interface SecureStage extends Stage {
  readonly tlsPort: number;
  /** Puts another certificate in the place of the first. */
  readonly replaceCertificate: (pair: ReturnType<typeof makeCertificate>) => Promise<void>;
}

interface SecureReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

const CERTIFICATE = makeCertificate('site.test');
const TRUST = { servername: 'site.test', ca: CERTIFICATE.cert } as const;

async function setSecureStage(options: StageOptions = {}): Promise<SecureStage> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [certFile, keyFile] = [join(folder, 'site.pem'), join(folder, 'site.key')];
  const replaceCertificate: SecureStage['replaceCertificate'] = async ({ cert, key }) => {
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
  };
  await replaceCertificate(CERTIFICATE);
  const files = `cert_file: ${certFile}, key_file: ${keyFile}`;
  const stage = await setStage({
    ...options,
    gateway: `server:\n  watch_config: false\n  tls: {enabled: true, listen: "127.0.0.1:0", ${files}}\n`,
  });
  const ready = stage.gateway.log.find(({ msg }) => msg === 'ready');
  const tlsPort = Number(/,"127\.0\.0\.1:(\d+)"\]/.exec(JSON.stringify(ready?.['listen']))?.[1]);
  return { ...stage, tlsPort, replaceCertificate };
}

/** One request by HTTP/1.1. */
async function askByOne(port: number, path: string, userAgent: string): Promise<SecureReply> {
  const headers = { Host: 'site.test', 'User-Agent': userAgent };
  const request = requestHttps({ ...TRUST, host: '127.0.0.1', port, path, headers, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

async function openSession(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, TRUST);
  onTestFinished(() => session.destroy());
  await once(session, 'connect');
  return session;
}

/** One request by HTTP/2. */
async function askByTwo(
  session: ClientHttp2Session,
  path: string,
  userAgent: string,
): Promise<SecureReply> {
  const stream = session.request({
    ':path': path,
    ':authority': 'site.test',
    'user-agent': userAgent,
  });
  const [headers] = await once(stream, 'response');
  return { status: headers[':status'], headers, body: await text(stream) };
}

test('both protocols get one page, under the key of the plain listener', async () => {
  const stage = await setSecureStage({ origin: ({ target }) => page(`page of ${target}`) });
  const session = await openSession(stage.tlsPort);
  const plain = await stage.ask('/a?utm_source=1');
  const replies = [
    await askByOne(stage.tlsPort, '/a', BOT),
    await askByTwo(session, '//a?gclid=2', BOT),
  ];
  for (const { status, headers, body } of replies) {
    expect([status, body]).toEqual([200, 'page of /a']);
    expect(headers['x-render-cache']).toBe('hit');
    expect(headers['etag']).toBe(plain.header('ETag'));
  }
  expect(stage.origin.requests.length).toBe(1);
});

test('E4: hop-by-hop headers of the origin do not break HTTP/2', async () => {
  const hops = [
    'Connection: keep-alive, X-Hop',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: keep-alive',
    'X-Hop: 1',
    'Upgrade: h2c',
  ];
  const stage = await setSecureStage({
    origin: () => page('page', ...hops, 'Set-Cookie: a=1', 'Set-Cookie: b=2'),
  });
  const session = await openSession(stage.tlsPort);
  for (const userAgent of [HUMAN, BOT, BOT]) {
    const { status, headers, body } = await askByTwo(session, '/', userAgent);
    expect([status, body]).toEqual([200, 'page']);
    expect(
      Object.keys(headers).filter((name) => /connection|keep-alive|hop|upgrade/.test(name)),
    ).toEqual([]);
    if (userAgent === HUMAN) expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
  }
  expect(session.closed).toBe(false);
});

test('the origin is told of https and of one Host', async () => {
  const stage = await setSecureStage();
  const session = await openSession(stage.tlsPort);
  await askByTwo(session, '/raw/%2F?b&a', HUMAN);
  const [request] = stage.origin.requests;
  expect(request?.target).toBe('/raw/%2F?b&a');
  expect(valuesOf(request, 'host')).toEqual(['site.test']);
  expect(valuesOf(request, 'x-forwarded-proto')).toEqual(['https']);
  expect(valuesOf(request, 'via')).toEqual([expect.stringMatching(/^2 edge-gateway-/)]);
});

test('errors and redirects have no body that HTTP/2 would choke on', async () => {
  const stage = await setSecureStage({
    host: 'url_rules: [{match: /gone, action: status_410}]\n',
    origin: () => answer(304, '', 'ETag: "x"').replace('Content-Length: 0\r\n', ''),
  });
  const session = await openSession(stage.tlsPort);
  expect((await askByTwo(session, '/gone', BOT)).status).toBe(410);
  await stage.origin.close();
  const reply = await askByTwo(session, '/', HUMAN);
  expect([reply.status, reply.headers['proxy-status']]).toEqual([
    502,
    expect.stringContaining('edge-gateway; error='),
  ]);
});

test('a replaced certificate is shown after a reload, and open connections go on', async () => {
  const stage = await setSecureStage();
  const session = await openSession(stage.tlsPort);
  const serial = async (): Promise<string> => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: stage.tlsPort,
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const before = await serial();
  await stage.replaceCertificate(makeCertificate('site.test'));
  expect(await serial()).toBe(before);
  expect(await stage.gateway.reload()).toBe(true);
  expect(await serial()).not.toBe(before);
  expect((await askByTwo(session, '/', BOT)).status).toBe(200);
});

test('a certificate that cannot be read leaves the old one in service', async () => {
  const stage = await setSecureStage();
  await stage.replaceCertificate({ cert: 'no certificate', key: 'no key' });
  expect(await stage.gateway.reload()).toBe(false);
  expect((await askByOne(stage.tlsPort, '/', BOT)).status).toBe(200);
  expect(stage.gateway.log.filter(({ level }) => level === 'error').length).toBe(1);
  await stage.replaceCertificate(CERTIFICATE);
  expect(await stage.gateway.reload()).toBe(true);
  expect((await askByOne(stage.tlsPort, '/', BOT)).status).toBe(200);
});

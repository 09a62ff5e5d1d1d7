// HTTPS with workers: both protocols, sessions that any worker resumes, certificates that are renewed
// by all or none.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../helpers/self-signed.ts';
import { BOT, page } from '../scenario/stage.ts';
import { startWorkerGateway } from './worker-gateway.ts';

test('every worker resumes what another began, speaks HTTP/2, renews its certificate', async () => {
  const { cert, key } = makeCertificate('127.0.0.1');
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-certificate-'));
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
  const [certFile, keyFile] = [join(folder, 'site.pem'), join(folder, 'site.key')];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const gateway = await startWorkerGateway({
    workers: 3,
    origin: () => page('a page'),
    server: `, tls: {enabled: true, listen: "127.0.0.1:0", cert_file: "${certFile}", key_file: "${keyFile}"}`,
  });
  const listen = gateway.log.find(({ msg }) => msg === 'ready')?.['listen'] as readonly string[];
  const port = Number(listen[1]?.split(':').at(-1));

  const first = connect({ host: '127.0.0.1', port, ca: cert, maxVersion: 'TLSv1.2' });
  const [session] = (await once(first, 'session')) as [Buffer];
  first.destroy();
  const isResumed = async (): Promise<boolean> => {
    const again: TLSSocket = connect({
      host: '127.0.0.1',
      port,
      ca: cert,
      maxVersion: 'TLSv1.2',
      session,
    });
    await once(again, 'secureConnect');
    const isReused = again.isSessionReused();
    again.destroy();
    return isReused;
  };
  // More than there are workers, one after the other: each has its turn.
  const resumed = [];
  for (let index = 0; index < 9; index += 1) resumed.push(await isResumed());
  expect(resumed).toEqual(resumed.map(() => true));

  const client = connectHttp2(`https://127.0.0.1:${port}`, { ca: cert });
  const stream = client.request({ ':authority': 'site.test', ':path': '/', 'user-agent': BOT });
  const [headers] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>];
  stream.resume();
  await once(stream, 'close');
  client.close();
  expect(headers[':status']).toBe(200);

  // Only the workers find out that it can't be used: none takes it, and all go on with the old one.
  await writeFile(certFile, 'no certificate');
  const refused = await gateway.admin('/reload', 'POST');
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([422, { applied: false }]);
  expect(await isResumed()).toBe(true);
  expect(gateway.workers().size).toBe(3);
  const renewed = makeCertificate('127.0.0.1');
  await writeFile(certFile, renewed.cert);
  await writeFile(keyFile, renewed.key);
  expect((await gateway.admin('/reload', 'POST')).status).toBe(200);
  for (let index = 0; index < 9; index += 1) {
    const socket = connect({ host: '127.0.0.1', port, ca: renewed.cert });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
  }
}, 240_000);

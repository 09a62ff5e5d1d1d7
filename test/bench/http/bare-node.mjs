// What Node itself takes for the bytes of a bench, a bound for any server written on it: no request
// is parsed, nothing is decided, logged or counted.
//
// node bare-node.mjs hit|bypass PORT SITE_PORT
import { connect, createServer } from 'node:net';

const READ_BYTES = 65_536;
const [, , mode, port, sitePort] = process.argv;

/** Answers, with their heads, by the bytes of the request that got them first. */
const answers = new Map();

const openSite = (options = {}) =>
  connect({ host: '127.0.0.1', port: Number(sitePort), noDelay: true, ...options });

/** From socket to socket. */
function pass(client) {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (bytes) => {
    client.write(buffer.subarray(0, bytes));
    // What the system hasn't taken may not be written over: clients of a bench always read.
    if (client.writableLength > 0) client.destroy(new Error('a client is too slow for the bench'));
    return true;
  };
  const site = openSite({ onread: { buffer, callback } });
  client.on('data', (chunk) => site.write(chunk));
  client.on('close', () => site.destroy());
  site.on('close', () => client.destroy());
  site.on('error', () => client.destroy());
}

/** The whole answer in one write. */
function answer(client) {
  client.on('data', (chunk) => {
    const request = chunk.toString('latin1');
    const known = answers.get(request);
    if (known !== undefined) {
      client.write(known);
      return;
    }
    const chunks = [];
    const site = openSite();
    // It ends after this answer.
    site.write(request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    site.on('data', (piece) => chunks.push(piece));
    site.on('end', () => {
      const text = Buffer.concat(chunks).toString('latin1').replace('Connection: close\r\n', '');
      answers.set(request, Buffer.from(text, 'latin1'));
      client.write(answers.get(request));
    });
    site.on('error', () => client.destroy());
  });
}

const server = createServer({ noDelay: true }, (client) => {
  client.on('error', () => client.destroy());
  if (mode === 'hit') answer(client);
  else pass(client);
});
server.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit());

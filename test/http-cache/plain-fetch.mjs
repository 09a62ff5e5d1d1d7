// A fetch that sends what it is told and nothing more: Node's own adds `Cache-Control: no-cache` to
// requests that are conditional, which is what the suite is about.
import { request } from 'node:http';

/** @param {string} url */
export function plainFetch(url, { method = 'GET', headers = [], body } = {}) {
  const { host } = new URL(url);
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: ['Host', host, ...headers.flat(), ...length] });
    sent.once('error', reject);
    sent.once('response', (answer) => resolve(toResponse(answer)));
    sent.end(body);
  });
}

function toResponse(answer) {
  const fields = new Headers();
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) {
    fields.append(answer.rawHeaders[i], answer.rawHeaders[i + 1]);
  }
  return {
    status: answer.statusCode,
    statusText: answer.statusMessage,
    headers: fields,
    text: async () => Buffer.concat(await answer.toArray()).toString('utf8'),
  };
}

// Bodies that take time or room: a slow page, an event stream, a download, an upload. Each ends as
// soon as its client leaves.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange, readNumber, sendHtml, sendJson } from '../exchange.ts';

const MEGABYTE = Buffer.alloc(1024 * 1024, 'edge-gateway demo download. ');

/** `/slow?ms=2000` */
export async function answerSlowly(exchange: Exchange): Promise<void> {
  const ms = readNumber(exchange.url, 'ms', { default: 2_000, max: 120_000 });
  if (await waitOrLeave(exchange, ms)) {
    sendHtml(
      exchange,
      `<!doctype html><html lang="en"><title>Slow</title><p>${ms} ms</p></html>\n`,
    );
  }
}

/** `/events?count=&interval_ms=`: server-sent events, for ever by default. */
export async function streamEvents(exchange: Exchange): Promise<void> {
  const count = readNumber(exchange.url, 'count', { default: Infinity, max: 1_000_000 });
  const intervalMs = readNumber(exchange.url, 'interval_ms', { default: 1_000, max: 60_000 });
  const { response } = exchange;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (let id = 1; id <= count; id += 1) {
    response.write(`id: ${id}\nevent: tick\ndata: {"tick":${id}}\n\n`);
    if (id < count && !(await waitOrLeave(exchange, intervalMs))) return;
  }
  response.end();
}

/** `/download?mb=10`: no faster than it is read. */
export async function download(exchange: Exchange): Promise<void> {
  const mb = readNumber(exchange.url, 'mb', { default: 10, max: 4_096 });
  const { request, response } = exchange;
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="demo-${mb}mb.bin"`,
    'content-length': String(mb * MEGABYTE.length),
  });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for (let sent = 0; sent < mb && request.method !== 'HEAD' && !response.destroyed; sent += 1) {
    if (response.write(MEGABYTE)) continue;
    await once(response, 'drain', { signal: gone.signal }).catch(ignoreAbort);
  }
  response.end();
}

/** `POST /upload`: how many bytes came, and their SHA-256. */
export async function receiveUpload(exchange: Exchange): Promise<void> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of exchange.request) {
    bytes += chunk.length;
    digest.update(chunk);
  }
  sendJson(exchange, { bytes, sha256: digest.digest('hex') }, { 'cache-control': 'no-store' });
}

/** Waits; false when the client left meanwhile. */
async function waitOrLeave({ response }: Exchange, ms: number): Promise<boolean> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.once('close', leave);
  await sleep(ms, undefined, { signal: gone.signal }).catch(ignoreAbort);
  response.off('close', leave);
  return !response.destroyed;
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}

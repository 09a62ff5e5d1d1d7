// The store of the entries bench: pages as they are stored in earnest, many of them, in one folder.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { openStores, type Stores } from '../../src/compose/open-stores.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { formatCacheKey } from '../../src/core/key/cache-key.ts';
import type { BodyRef, Entry, Hasher } from '../../src/pipeline/ports.ts';

const HOUR_MS = 3_600_000;
/** Pages in turn have one of these, since a file may have some ten thousand names only. */
export const BODIES = 64;
const BODY_BYTES = 4_096;

export interface BenchPage {
  readonly key: string;
  readonly ref: BodyRef;
  readonly url: string;
  readonly entry: Entry;
}

/** Writes the configuration of a gateway on a store in this folder; answers its file. */
export async function writeConfig(folder: string): Promise<string> {
  const file = join(folder, 'edge-gateway.yaml');
  // Nothing is swept or held in memory behind the bench's back.
  const gateway = `server: {listen: "127.0.0.1:0"}
admin: {listen: "127.0.0.1:0"}
storage: {base_path: ./data, max_bytes: 1024GiB, cleanup: {enabled: false}}
memory: {max_bytes: 0}
render: {engine: origin}
hosts: {include: hosts.yaml}
`;
  const hosts = 'hosts:\n  - {id: 1, domain: shop.example, origin: "http://127.0.0.1:9"}\n';
  await writeFile(file, gateway);
  await writeFile(join(folder, 'hosts.yaml'), hosts);
  return file;
}

/** Opens the stores as a gateway with this configuration does. */
export async function openBenchStores(file: string): Promise<Stores> {
  const { config, diagnostics } = await loadConfig(file, {});
  if (config === null) throw new Error(JSON.stringify(diagnostics));
  const complain = (event: unknown): never => {
    throw new Error(JSON.stringify(event));
  };
  return await openStores(config.settings, {
    onNotice: complain,
    onEvent: complain,
    onUnavailable: complain,
  });
}

export function makeBody(i: number): Buffer {
  const head = `<!doctype html><title>body ${i % BODIES}</title>`;
  return Buffer.from(head.padEnd(BODY_BYTES, '<p>shop</p>'));
}

/** Page number `i`, with the headers that are usual. */
export function makeBenchPage(hasher: Hasher, i: number, digests: readonly string[]): BenchPage {
  const path = `/products/category-${i % 97}/article-${i}`;
  const url = `https://shop.example${path}?color=blue&size=${i % 50}`;
  const ref = { hostId: 1, dimensionId: 1, hash: hasher.text(url) };
  const cachedAt = Date.now() - (i % 3_600) * 1_000;
  const entry: Entry = {
    schema: 1,
    url,
    ...ref,
    source: 'render',
    status: 200,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-language', 'en'],
      ['link', `<https://shop.example/products/article-${i}>; rel=canonical`],
      ['cache-control', 'public, max-age=3600'],
    ],
    cachedAt,
    staleAt: cachedAt + HOUR_MS,
    deleteAt: cachedAt + 24 * HOUR_MS,
    modifiedAt: cachedAt,
    bodies: { identity: { bytes: BODY_BYTES, hash: digests[i % BODIES] ?? '' } },
    tags: [`product-${i}`, `category-${i % 97}`],
    since: 0,
  };
  return { key: formatCacheKey(ref), ref, url, entry };
}

/** Where a gateway's log goes that nobody reads. */
export function createSink(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

// Bodies for the store suites, with the digests that describe them.
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  createFileBodyStore,
  type FileBodyStore,
} from '../../src/adapters/files/create-file-body-store.ts';
import { type LooseContent, listLooseContent } from '../../src/adapters/files/list-files.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type {
  BodyDigest,
  BodyDigests,
  BodyRef,
  ContentCoding,
  Hasher,
} from '../../src/pipeline/ports.ts';

/** References of one host in one folder. */
export const refOf = (i: number, hostId = 7): BodyRef => ({
  hostId,
  dimensionId: 1,
  hash: `aa${i.toString(16).padStart(14, '0')}`,
});

/** A store of files that never warns. */
export async function openBodyStore(basePath: string): Promise<FileBodyStore> {
  const hasher = await createHasher();
  return createFileBodyStore({
    basePath,
    hasher,
    clock: systemClock,
    onWarning: (warning) => {
      throw new Error(JSON.stringify(warning));
    },
  });
}

/** The content files of a store that no page has. */
export async function listLoose(basePath: string): Promise<readonly LooseContent[]> {
  const all: LooseContent[] = [];
  for await (const some of listLooseContent(join(basePath, 'pages'))) all.push(...some);
  return all;
}

/** Describes bytes as an entry does. */
export function digestOf(hasher: Hasher, bytes: Buffer): BodyDigest {
  return { bytes: bytes.length, hash: hasher.bytes(bytes) };
}

/** Describes one coding, whatever the others are. */
export function digestsOf(coding: ContentCoding, digest: BodyDigest): BodyDigests {
  return { identity: digest, [coding]: digest };
}

/** A page of some kilobytes in all codings. */
export function makeBodies(text: string): Readonly<Record<ContentCoding, Buffer>> {
  const identity = Buffer.from(
    `<!doctype html><title>${text}</title>${`<p>${text}</p>`.repeat(400)}`,
  );
  return { identity, gzip: gzipSync(identity), br: brotliCompressSync(identity) };
}

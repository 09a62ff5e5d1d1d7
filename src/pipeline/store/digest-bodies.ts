// Describes bodies as an entry does.
import type { BodyDigest, BodyDigests, BodySet, Hasher } from '../ports.ts';

export function digestBodies(bodies: BodySet, hasher: Hasher): BodyDigests {
  const digest = (bytes: Buffer): BodyDigest => ({
    bytes: bytes.length,
    hash: hasher.bytes(bytes),
  });
  return {
    identity: digest(bodies.identity),
    ...(bodies.gzip && { gzip: digest(bodies.gzip) }),
    ...(bodies.br && { br: digest(bodies.br) }),
  };
}

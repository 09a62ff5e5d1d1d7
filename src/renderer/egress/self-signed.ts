// A certificate for the inside of the egress: the browser speaks TLS with us for the configured
// hosts, whatever scheme their origin has. The key is made anew by every process and never leaves
// it; the browser is told to trust exactly this key, so no name and no authority is involved.
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface SelfSigned {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** SHA-256 of the public key, base64: what Chromium takes on its command line. */
  readonly keyHash: string;
}

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  oid: 0x06,
  utf8: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
} as const;
/** 1.2.840.10045.4.3.2, ecdsa-with-SHA256; 2.5.4.3, commonName. */
const ECDSA_SHA256 = Buffer.from('2a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('550403', 'hex');

/** Makes a key pair and its certificate (RFC 5280 §4.1), valid as long as a process may live. */
export function createSelfSigned(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicDer = publicKey.export({ type: 'spki', format: 'der' });
  return {
    cert: toPem(buildCertificate(privateKey, publicDer)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    keyHash: createHash('sha256').update(publicDer).digest('base64'),
  };
}

function buildCertificate(privateKey: KeyObject, publicDer: Buffer): Buffer {
  const algorithm = encode(TAG.sequence, encode(TAG.oid, ECDSA_SHA256));
  const commonName = [encode(TAG.oid, COMMON_NAME), encode(TAG.utf8, Buffer.from('egress'))];
  const name = encode(TAG.sequence, encode(TAG.set, encode(TAG.sequence, ...commonName)));
  const validity = ['20200101000000Z', '20991231235959Z'].map((time) =>
    encode(TAG.time, Buffer.from(time)),
  );
  const certificate = encode(
    TAG.sequence,
    encode(TAG.version, encode(TAG.integer, Buffer.from([2]))),
    encode(TAG.integer, Buffer.from([1])),
    algorithm,
    name,
    encode(TAG.sequence, ...validity),
    name,
    publicDer,
  );
  const signature = sign('sha256', certificate, privateKey);
  const unusedBits = Buffer.from([0]);
  return encode(TAG.sequence, certificate, algorithm, encode(TAG.bitString, unusedBits, signature));
}

/** One DER value: tag, length, content (X.690 §8.1). */
function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

// A self-signed certificate made on the spot: the little DER that one needs, so that no key lies in
// the repository and no tool has to be installed.
import { createSign, generateKeyPairSync } from 'node:crypto';

const SEQUENCE = 0x30;
const SET = 0x31;
const ECDSA_WITH_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

/** A P-256 certificate for one DNS name or IPv4 address, valid from 2020 to 2049. */
export function makeCertificate(name: string): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(name)))));
  const validity = der(
    SEQUENCE,
    der(0x17, Buffer.from('200101000000Z')),
    der(0x17, Buffer.from('491231235959Z')),
  );
  const isAddress = /^\d+(?:\.\d+){3}$/.test(name);
  const alternative = isAddress
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name));
  const extension = der(SEQUENCE, SUBJECT_ALT_NAME, der(0x04, der(SEQUENCE, alternative)));
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    subject,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, extension)),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const bits = der(0x03, Buffer.from([0]), signature);
  const certificate = der(SEQUENCE, body, ECDSA_WITH_SHA256, bits).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

// Which of a Cluster's 16,384 slots a key is in: CRC16 (XMODEM) of the key, or of what stands
// between its first braces, so that keys with the same tag are on the same server.

export const SLOTS = 16_384;

const POLYNOMIAL = 0x1021;
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) {
    crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  }
  return crc & 0xffff;
});

/** The slot of a key. */
export function slotOfKey(key: string): number {
  const open = key.indexOf('{');
  const close = open === -1 ? -1 : key.indexOf('}', open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc = ((crc << 8) ^ (TABLE[(crc >> 8) ^ byte] ?? 0)) & 0xffff;
  }
  return crc % SLOTS;
}

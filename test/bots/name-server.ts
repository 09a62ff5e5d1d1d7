// A DNS server on a loopback UDP port: A, AAAA and PTR from a table, NXDOMAIN for the rest, and
// names it never answers. Only what the tests ask for.
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

export interface NameServer {
  /** For `Resolver.setServers`. */
  readonly address: string;
  /** Questions so far, as `PTR 1.2.0.192.in-addr.arpa`. */
  readonly questions: readonly string[];
  readonly close: () => void;
}

/** `TYPE name` → its values; `silent`: no answer; `broken`: SERVFAIL. */
export type Zone = Readonly<Record<string, readonly string[] | 'silent' | 'broken'>>;

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 12: 'PTR', 28: 'AAAA' };
const NXDOMAIN = 3;
const SERVFAIL = 2;

export async function startNameServer(zone: Zone): Promise<NameServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(message);
    const question = `${TYPES[type] ?? type} ${name}`;
    questions.push(question);
    const values = zone[question];
    if (values === 'silent') return;
    socket.send(answer(message.subarray(0, end), type, values), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => socket.close(),
  };
}

/** `PTR` question of an address. */
export function ptr(address: string): string {
  if (!address.includes(':')) return `PTR ${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const groups = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const [head = [], tail = []] = groups;
  const middle = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  const hex = [...head, ...middle, ...tail].map((group) => group.padStart(4, '0')).join('');
  return `PTR ${[...hex].reverse().join('.')}.ip6.arpa`;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    end: at + 5,
  };
}

function answer(
  question: Buffer,
  type: number,
  values: readonly string[] | 'broken' | undefined,
): Buffer {
  const head = Buffer.from(question);
  const code = values === undefined ? NXDOMAIN : values === 'broken' ? SERVFAIL : 0;
  const records = Array.isArray(values) ? values.map((value) => record(type, value)) : [];
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records]);
}

function record(type: number, value: string): Buffer {
  const data = type === 12 ? encodeName(value) : encodeAddress(value);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => {
    const bytes = Buffer.from(label, 'latin1');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const hex = ptr(address).slice('PTR '.length, -'.ip6.arpa'.length).split('.').reverse().join('');
  return Buffer.from(hex, 'hex');
}

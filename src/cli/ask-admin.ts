// Asks the running gateway of a configuration, through its admin listener.

import { type IncomingMessage, request } from 'node:http';
import type { Settings } from '../config/settings.ts';
import { fieldsOf } from '../core/records.ts';
import { splitLines } from './split-lines.ts';

export interface AdminAnswer {
  readonly status: number;
  /** Each line of the body, parsed; one for an answer that is not a stream. */
  readonly values: AsyncIterable<unknown>;
}

/** Nobody answers there, or stopped answering: a sentence for the person. */
export class AdminError extends Error {}

const LINE_BYTES_MAX = 16 * 1024 * 1024;

/** Posts JSON. Throws an `AdminError` when no gateway answers. */
export async function askAdmin(
  { admin }: Settings,
  path: string,
  body: unknown,
): Promise<AdminAnswer> {
  const { token } = admin;
  const { host, port } = admin.listen;
  const address = addressOf(host);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const post = request({
      host: address,
      port,
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    post.on('response', resolve);
    post.on('error', (cause: NodeJS.ErrnoException) =>
      reject(new AdminError(describe(`${address}:${port}`, cause))),
    );
    post.end(JSON.stringify(body));
  });
  return { status: response.statusCode ?? 0, values: readValues(response) };
}

/** The message of an answer that says no; null: it is none. */
export function readAdminError(value: unknown): string | null {
  const { message } = fieldsOf(fieldsOf(value)['error']);
  return typeof message === 'string' ? message : null;
}

/** What a listener on every address answers on, on this machine. */
function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function describe(place: string, { code }: NodeJS.ErrnoException): string {
  return code === 'ECONNREFUSED'
    ? `no gateway runs with this configuration: nobody answers at ${place} (admin.listen)`
    : `the gateway at ${place} (admin.listen) does not answer: ${code ?? 'unknown'}`;
}

async function* readValues(response: IncomingMessage): AsyncGenerator<unknown> {
  try {
    for await (const line of splitLines(response, LINE_BYTES_MAX)) {
      if (line.length > 0) yield JSON.parse(line.toString('utf8'));
    }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no JSON';
    throw new AdminError(`the gateway stopped in the middle of its answer: ${code}`);
  }
}

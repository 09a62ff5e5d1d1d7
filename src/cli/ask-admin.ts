// Asks the running gateway of a configuration, through its admin listener.

import { type IncomingMessage, request } from 'node:http';
import type { AdminSettings } from '../config/settings.ts';
import { fieldsOf } from '../core/records.ts';
import { err, ok, type Result } from '../core/result.ts';
import { splitLines } from './split-lines.ts';

export interface AdminQuestion {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** How long nothing may come; absent: as long as it takes. */
  readonly timeoutMs?: number;
  /** Ends the question, and the answer. */
  readonly signal?: AbortSignal;
}

export interface AdminAnswer {
  readonly status: number;
  /** Each line of the body, parsed; one for an answer that is not a stream. */
  readonly values: AsyncIterable<unknown>;
}

/** An answer that is one object. */
export interface AdminObject {
  readonly status: number;
  readonly value: unknown;
}

/** Nobody answers there, or stopped answering: a sentence for the person. */
export class AdminError extends Error {}

const LINE_BYTES_MAX = 16 * 1024 * 1024;

/** Throws an `AdminError` when no gateway answers. */
export async function askAdmin(
  { listen, token }: AdminSettings,
  { method, path, body, timeoutMs, signal }: AdminQuestion,
): Promise<AdminAnswer> {
  const address = addressOf(listen.host);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const question = request({
      host: address,
      port: listen.port,
      path,
      method,
      ...(signal && { signal }),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    if (timeoutMs !== undefined) {
      question.setTimeout(timeoutMs, () =>
        question.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })),
      );
    }
    question.on('response', resolve);
    question.on('error', (cause: NodeJS.ErrnoException) =>
      reject(new AdminError(describe(`${address}:${listen.port}`, cause))),
    );
    question.end(body === undefined ? undefined : JSON.stringify(body));
  });
  return { status: response.statusCode ?? 0, values: readValues(response) };
}

/** For an answer that is one object; the error is a sentence for the person. */
export async function askAdminOnce(
  admin: AdminSettings,
  question: AdminQuestion,
): Promise<Result<AdminObject, string>> {
  try {
    const { status, values } = await askAdmin(admin, question);
    for await (const value of values) return ok({ status, value });
    return err(`the gateway answers ${status}, and nothing more`);
  } catch (cause) {
    if (cause instanceof AdminError) return err(cause.message);
    throw cause;
  }
}

/** What is wrong with an answer that is not what was asked for. */
export function describeRefusal(status: number, value: unknown): string {
  return readAdminError(value) ?? `the gateway’s answer (${status}) is not understood`;
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

// Asks the running gateway of a configuration, through its admin listener. Who answers there may be
// anything: no question waits for ever, however slowly bytes may come.

import { type IncomingMessage, request } from 'node:http';
import { addAbortSignal, type Writable } from 'node:stream';
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
  /** In which an object must be there as a whole, and the head of a stream. */
  readonly timeoutMs?: number;
  /** Ends the question to a stream, and its answer; its reason is an `AdminError`. */
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

/** Of questions for work that grows with what is stored, or configured. */
export const LONG_WORK_TIMEOUT_MS = 120_000;

const ANSWER_TIMEOUT_MS = 10_000;
/** A person who waits is told so after this time. */
const NOTE_MS = 5_000;
/** Between two lines of a stream: a page may have to wait for others, and be tried again. */
const SILENCE_MS_MAX = 1_800_000;
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * For a stream: the answer's head comes in time, and then something every now and then.
 * Throws an `AdminError` when no gateway answers.
 */
export async function askAdmin(
  admin: AdminSettings,
  question: AdminQuestion,
): Promise<AdminAnswer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(lateError(admin, question)), timeoutOf(question));
  try {
    const { signal } = question;
    const ended = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
    const response = await send(admin, question, ended);
    const values = readValues(response, ended);
    const onSilence = (): void => limit.abort(silentError(admin));
    return { status: response.statusCode ?? 0, values: watchSilence(values, onSilence) };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * For an answer that is one object, and whole in time; the error is a sentence for the person.
 *
 * @param stderr where is told that it takes long
 */
export async function askAdminOnce(
  admin: AdminSettings,
  question: AdminQuestion,
  stderr: Writable,
): Promise<Result<AdminObject, string>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(lateError(admin, question)), timeoutOf(question));
  const note = setTimeout(() => {
    stderr.write(`edge-gateway: still waiting for ${nameGateway(admin)}\n`);
  }, NOTE_MS);
  try {
    const response = await send(admin, question, limit.signal);
    const status = response.statusCode ?? 0;
    for await (const value of readValues(response, limit.signal)) return ok({ status, value });
    return err(`the gateway answers ${status}, and nothing more`);
  } catch (cause) {
    if (cause instanceof AdminError) return err(cause.message);
    throw cause;
  } finally {
    clearTimeout(timer);
    clearTimeout(note);
  }
}

/** Counts values and not bytes, of which any number may be nothing. */
async function* watchSilence(
  values: AsyncIterable<unknown>,
  onSilence: () => void,
): AsyncGenerator<unknown> {
  const timer = setTimeout(onSilence, SILENCE_MS_MAX);
  try {
    for await (const value of values) {
      timer.refresh();
      yield value;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** @param signal its reason is an `AdminError` */
async function send(
  admin: AdminSettings,
  { method, path, body }: AdminQuestion,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { listen, token } = admin;
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const question = request({
      host: addressOf(listen.host),
      port: listen.port,
      path,
      method,
      signal,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    question.on('response', (response) => resolve(addAbortSignal(signal, response)));
    question.on('error', (cause: NodeJS.ErrnoException) =>
      reject(signal.aborted ? signal.reason : describeFailure(admin, cause)),
    );
    question.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function timeoutOf({ timeoutMs = ANSWER_TIMEOUT_MS }: AdminQuestion): number {
  return timeoutMs;
}

/** What is wrong with an answer that is not what was asked for. */
export function describeRefusal(status: number, value: unknown): string {
  return readAdminError(value) ?? `the gateway answers oddly (${status}): not understood`;
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

function nameGateway({ listen }: AdminSettings): string {
  return `the gateway at ${addressOf(listen.host)}:${listen.port} (admin.listen)`;
}

function describeFailure(admin: AdminSettings, { code }: NodeJS.ErrnoException): AdminError {
  const { host, port } = admin.listen;
  return new AdminError(
    code === 'ECONNREFUSED'
      ? `no gateway runs with this configuration: nobody answers at ${addressOf(host)}:${port}` +
          ' (admin.listen)'
      : `${nameGateway(admin)} does not answer: ${code ?? 'unknown'}`,
  );
}

function lateError(admin: AdminSettings, question: AdminQuestion): AdminError {
  const what = `${nameGateway(admin)} has not answered in ${timeoutOf(question) / 1_000} s`;
  const may = question.method === 'GET' ? '' : '; it may still do what it was asked';
  return new AdminError(`${what}${may}`);
}

function silentError(admin: AdminSettings): AdminError {
  return new AdminError(`${nameGateway(admin)} has said nothing for ${SILENCE_MS_MAX / 1_000} s`);
}

async function* readValues(
  response: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  try {
    for await (const line of splitLines(response, LINE_BYTES_MAX)) {
      if (line.length > 0) yield JSON.parse(line.toString('utf8'));
    }
  } catch (cause) {
    signal.throwIfAborted();
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no JSON';
    throw new AdminError(`the gateway stopped in the middle of its answer: ${code}`);
  }
}

// Asks a render service how it is, where it listens: it has no admin listener.
import { request } from 'node:http';
import { err, ok, type Result } from '../core/result.ts';

export interface RendererAnswer {
  readonly isWell: boolean;
  /** `ready`, `not ready`, `alive`. */
  readonly word: string;
}

export interface RendererQuestion {
  readonly path: '/health' | '/ready';
  readonly timeoutMs: number;
}

const WORD_CHARS_MAX = 100;

/** The error is a sentence for the person. */
export async function askRenderer(
  { host, port }: { readonly host: string; readonly port: number },
  { path, timeoutMs }: RendererQuestion,
): Promise<Result<RendererAnswer, string>> {
  return await new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = ({ code }: NodeJS.ErrnoException): void =>
      resolve(err(`no render service answers at ${host}:${port}: ${code ?? 'unknown'}`));
    const question = request({ host, port, path, signal, agent: false });
    question.on('error', fail);
    question.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text = (text + part).slice(0, WORD_CHARS_MAX);
      });
      response.on('error', fail);
      response.on('end', () =>
        resolve(ok({ isWell: response.statusCode === 200, word: text.trim() })),
      );
    });
    question.end();
  });
}

// The body of an origin's answer in the forms that are wanted of it.
import { Readable } from 'node:stream';
import type { OriginAnswer } from '../origin-ports.ts';
import type { StreamedBody } from '../state.ts';

type Body = OriginAnswer['body'];

/** As it goes to the one who asked. */
export function passBody({ body, trailers }: OriginAnswer): Buffer | StreamedBody {
  if (Buffer.isBuffer(body)) return body;
  // Whoever writes it out sees that it was closed before its end.
  body.on('error', () => undefined);
  return { stream: body, trailers, flaw: () => (body.errored === null ? null : 'cut') };
}

/** As it is collected for the store. */
export function streamOf(body: Body): Readable {
  if (!Buffer.isBuffer(body)) return body;
  const stream = new Readable({ read: () => undefined });
  stream.push(body);
  stream.push(null);
  return stream;
}

/** Nobody wants it. */
export function dropBody(body: Body): void {
  if (!Buffer.isBuffer(body)) body.on('error', () => undefined).destroy();
}

// The debugging protocol over a pair of pipes: JSON messages that end in a NUL, as Chromium speaks
// it with --remote-debugging-pipe. Playwright drives the browser through this transport.
import type { Readable, Writable } from 'node:stream';

/** What Playwright's connectOverCDP takes. */
export interface CdpPipe {
  send: (message: object) => void;
  close: () => void;
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
}

/**
 * @param input where our messages go
 * @param output where the browser's come from
 * @param onClose asked to end the browser when Playwright closes the connection
 */
export function createCdpPipe(input: Writable, output: Readable, onClose: () => void): CdpPipe {
  let pending: Buffer[] = [];
  let isClosed = false;
  const pipe: CdpPipe = {
    send: (message) => {
      if (!isClosed) input.write(`${JSON.stringify(message)}\0`);
    },
    close: onClose,
  };
  const closed = (): void => {
    if (isClosed) return;
    isClosed = true;
    pending = [];
    pipe.onclose?.();
  };
  output.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      pending.push(rest.subarray(0, end));
      const text = Buffer.concat(pending).toString('utf8');
      pending = [];
      rest = rest.subarray(end + 1);
      if (!isClosed) pipe.onmessage?.(JSON.parse(text));
    }
    if (rest.length > 0) pending.push(rest);
  });
  output.on('close', closed);
  // The end of the process is what counts; an error on its pipes only announces it.
  output.on('error', closed);
  input.on('error', closed);
  return pipe;
}

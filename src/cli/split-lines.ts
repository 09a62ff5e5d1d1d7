// Lines of a byte stream, as bytes: a line that is not UTF-8 must not be damaged on the way.

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Yields each line without its line end; a last line needs none. */
export async function* splitLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = bytes.subarray(start, end);
      yield trimReturn(rest.length === 0 ? line : Buffer.concat([rest, line]));
      rest = Buffer.alloc(0);
      start = end + 1;
    }
    const tail = bytes.subarray(start);
    rest = rest.length === 0 ? tail : Buffer.concat([rest, tail]);
  }
  if (rest.length > 0) yield trimReturn(rest);
}

function trimReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

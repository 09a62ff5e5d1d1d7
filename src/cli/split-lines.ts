// Lines of a byte stream, as bytes: a line that is not UTF-8 must not be damaged on the way. A line
// is held only up to a bound, so that input without line ends can't fill the memory.

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Yields each line without its line end; a last line needs none.
 *
 * @param lineBytesMax what is beyond in a line is left out
 */
export async function* splitLines(
  input: AsyncIterable<Buffer | string>,
  lineBytesMax: number,
): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let room = lineBytesMax;
  const keep = (piece: Buffer): void => {
    if (piece.length === 0 || room === 0) return;
    pieces.push(piece.subarray(0, room));
    room = Math.max(0, room - piece.length);
  };
  const take = (): Buffer => {
    const [first, ...others] = pieces;
    const line = first !== undefined && others.length === 0 ? first : Buffer.concat(pieces);
    pieces = [];
    room = lineBytesMax;
    return trimReturn(line);
  };
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      keep(bytes.subarray(start, end));
      yield take();
      start = end + 1;
    }
    keep(bytes.subarray(start));
  }
  if (pieces.length > 0) yield take();
}

function trimReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

// Text for a terminal. What it says may come from anybody: a gateway that is none, a sitemap, a
// page. Control characters would move the cursor and name windows, so they are shown and not sent,
// as JSON spells them: JSON itself leaves U+007F to U+009F as they are.
import type { Writable } from 'node:stream';

const CONTROL = /\p{Cc}/gu;
const CONTROL_BUT_LINE_END = /[^\P{Cc}\n]/gu;

/** Text of lines; as `write` of the stream, false means that it is full. */
export function writeText(stream: Writable, text: string): boolean {
  return stream.write(text.replace(CONTROL_BUT_LINE_END, show));
}

/** One line, whatever is in it; its end is added. */
export function writeLine(stream: Writable, text: string): void {
  stream.write(`${text.replace(CONTROL, show)}\n`);
}

function show(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

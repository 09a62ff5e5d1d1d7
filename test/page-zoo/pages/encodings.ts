// Pages in other encodings, by header, by meta, or by neither.
import type { ZooPage, ZooPages } from '../zoo.ts';

/** "Aruku" in Shift_JIS, "Мир" in windows-1251, "Zoë" in latin1. */
const SHIFT_JIS = [0x83, 0x41, 0x83, 0x8b, 0x83, 0x4e];
const WINDOWS_1251 = [0xcc, 0xe8, 0xf0];

export const ENCODED_PAGES: ZooPages = {
  '/encoding/shift-jis': page(
    'text/html; charset=Shift_JIS',
    '<meta charset="Shift_JIS">',
    SHIFT_JIS,
  ),
  '/encoding/meta-only': page(
    'text/html',
    '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
    WINDOWS_1251,
  ),
  '/encoding/surrogate': page('text/html; charset=utf-8', '<title>half</title>', [], '\\ud83d'),
  '/encoding/xhtml': (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/xhtml+xml' })
      .end('<html xmlns="http://www.w3.org/1999/xhtml"><body><p>strict<br/>x</p></body></html>');
  },
};

function page(type: string, meta: string, letters: readonly number[], added = ''): ZooPage {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(`<!doctype html><html><head>${meta}</head><body><p id="p">`);
    response.write(Buffer.from(letters));
    response.end(`</p><script>p.append('${added}')</script></body></html>`);
  };
}

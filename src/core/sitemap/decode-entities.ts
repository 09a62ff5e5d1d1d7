// The five names of XML and characters by number; anything else stays as it is.

const NAMES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

export function decodeEntities(text: string): string {
  return text.replace(/&(#?[0-9a-zA-Z]{1,8});/g, (whole, name: string) => {
    if (!name.startsWith('#')) return NAMES.get(name) ?? whole;
    const isHex = /^#x[0-9a-f]+$/i.test(name);
    if (!isHex && !/^#\d+$/.test(name)) return whole;
    const code = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    const isCharacter = code > 0 && code <= 0x10_ff_ff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : whole;
  });
}

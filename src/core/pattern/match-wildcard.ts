// `*` is any run of characters, also none, also `/`; every other character is itself. The literal
// parts are searched left to right, which is enough for correctness and linear in the text: no
// pattern, however many stars it has, backtracks.

/**
 * Compiles a lower-cased wildcard pattern.
 *
 * @returns a predicate over lower-cased text
 */
export function compileWildcard(folded: string): (foldedText: string) => boolean {
  const parts = folded.split('*');
  const prefix = parts[0] ?? '';
  const suffix = parts.at(-1) ?? '';
  const middles = parts.slice(1, -1).filter((part) => part !== '');
  const fixedLength = prefix.length + suffix.length;
  if (middles.length === 0) {
    return (text) => text.length >= fixedLength && text.startsWith(prefix) && text.endsWith(suffix);
  }
  return (text) => {
    if (text.length < fixedLength || !text.startsWith(prefix) || !text.endsWith(suffix)) {
      return false;
    }
    const end = text.length - suffix.length;
    let from = prefix.length;
    for (const middle of middles) {
      const found = text.indexOf(middle, from);
      if (found === -1 || found + middle.length > end) return false;
      from = found + middle.length;
    }
    return true;
  };
}

// What is made of a part of the configuration when it is first asked for, and kept as long as
// whoever asks: of thousands of hosts most have no request in the next second, and many share
// parts.

/** @param make pure; what it makes is never `undefined` */
export function makeOnce<K, V>(make: (part: K) => V): (part: K) => V {
  const made = new Map<K, V>();
  return (part) => {
    const known = made.get(part);
    if (known !== undefined) return known;
    const value = make(part);
    made.set(part, value);
    return value;
  };
}

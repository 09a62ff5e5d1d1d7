// Rounds in turns: who begins changes, so that a machine that slows down wrongs nobody.

/** One round of each, so many times; the rounds of each in their order. */
export async function takeTurns<T, R>(
  ones: readonly T[],
  rounds: number,
  measure: (one: T) => Promise<R>,
): Promise<ReadonlyMap<T, readonly R[]>> {
  const taken = new Map<T, R[]>(ones.map((one) => [one, []]));
  for (let round = 0; round < rounds; round += 1) {
    const start = round % ones.length;
    for (const one of [...ones.slice(start), ...ones.slice(0, start)]) {
      taken.get(one)?.push(await measure(one));
    }
  }
  return taken;
}

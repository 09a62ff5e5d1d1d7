// A bound on waiting for what goes on without us.

/** The result, or null when it takes longer. */
export async function within<T>(waitMs: number, result: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, waitMs), null);
  });
  return await Promise.race([result, timeUp]).finally(() => clearTimeout(timer));
}

// Errors of the file system, by their code.

/** The code of a file system error, or `unknown`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Whether there is nothing at a path, or no folder that could hold it. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

// This very program once more, as another process: from source as from a build.
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export interface OwnProgram {
  readonly path: string;
  /** For Node, before the path. */
  readonly execArgv: readonly string[];
}

/** @param name a file of src/cli */
export function ownProgram(name: 'main' | 'worker-main'): OwnProgram {
  const isSource = import.meta.url.endsWith('.ts');
  const path = fileURLToPath(new URL(`../cli/${name}.${isSource ? 'ts' : 'js'}`, import.meta.url));
  return { path, execArgv: isSource ? ['--import', import.meta.resolve('tsx')] : process.execArgv };
}

// Who is alive, by what the system says of signal 0.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { expect, test } from 'vitest';
import { isProcessAlive } from '../../src/core/is-process-alive.ts';

/** What the system says of a process of another user; root is never told so. */
const refusing = {
  kill: () => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  },
};

test.each([
  ['this process', process.pid, process, true],
  ['one that has ended', spawnSync(process.execPath, ['--version']).pid, process, false],
  ['a number that no process has', 2 ** 40, process, false],
  ['a process of somebody else', 1, refusing, true],
])('%s', (_who, pid, system, isAlive) => {
  expect(isProcessAlive(pid, system)).toBe(isAlive);
});

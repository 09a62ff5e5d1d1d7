// Root over another user's files is warned; nobody else is.
import { chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { warnOfRoot } from '../../src/cli/open-stores-for-command.ts';

async function ask(folder: string, userId: number): Promise<string> {
  let text = '';
  const stderr = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  await warnOfRoot(folder, { stderr }, userId);
  return text;
}

test('who is warned', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-root-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  // Only root can give it away; everybody else's own folder is another user's to root.
  if (process.getuid?.() === 0) await chown(folder, 12_345, 12_345);
  const { uid } = await stat(folder);
  expect(await ask(folder, 0)).toContain(`root works in ${folder} of user ${uid}`);
  expect(await ask(folder, uid)).toBe('');
  expect(await ask(join(folder, 'nowhere'), 0)).toBe('');
  expect(await ask('/', 0)).toBe('');
});

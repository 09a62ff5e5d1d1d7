// Opens what a gateway has stored, for a command: what the stores have to say goes to stderr. Run
// as root over another user's files it warns: what it creates there the gateway could not change.
import { stat } from 'node:fs/promises';
import process from 'node:process';
import { openStoresIfPresent, type Stores } from '../compose/open-stores.ts';
import type { Settings } from '../config/settings.ts';
import type { CommandIo } from './command.ts';

/** null: nothing was ever stored. */
export async function openStoresForCommand(
  settings: Settings,
  io: CommandIo,
): Promise<Stores | null> {
  await warnOfRoot(settings.storage.basePath, io);
  return await openStoresIfPresent(settings, (message) => {
    io.stderr.write(`edge-gateway: ${message}\n`);
  });
}

/** @param userId absent: that of this process; systems without users have none */
export async function warnOfRoot(
  folder: string,
  io: Pick<CommandIo, 'stderr'>,
  userId = process.getuid?.(),
): Promise<void> {
  if (userId !== 0) return;
  const owner = await stat(folder).then(
    ({ uid }) => uid,
    // A folder that is not there has no owner to be wrong.
    () => 0,
  );
  if (owner === 0) return;
  io.stderr.write(
    `edge-gateway: warning: root works in ${folder} of user ${owner}, which may not be able to` +
      ` change what is created there; better: sudo -u '#${owner}' edge-gateway …\n`,
  );
}

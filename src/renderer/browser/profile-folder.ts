// The one folder in which a browser keeps everything: profile, temporary files, caches.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ok, type Result } from '../../core/result.ts';
import { createOwnFolder, removeOwnFolder, TEMPORARY_NAME } from '../folders/own-folder.ts';

export interface ProfileFolder {
  readonly path: string;
  /** What the browser finds in its environment: its home and all its other places are in here. */
  readonly environment: NodeJS.ProcessEnv;
  readonly remove: () => Promise<void>;
}

/** Makes the folder of one browser; the error says what to do. */
export function createProfileFolder(): Result<ProfileFolder, string> {
  const created = createOwnFolder();
  if (!created.ok) return created;
  const path = created.value;
  const temporary = join(path, TEMPORARY_NAME);
  mkdirSync(temporary);
  return ok({
    path,
    environment: {
      PATH: process.env['PATH'],
      LANG: process.env['LANG'] ?? 'C.UTF-8',
      TZ: process.env['TZ'],
      HOME: path,
      TMPDIR: temporary,
      XDG_CACHE_HOME: path,
      XDG_CONFIG_HOME: path,
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    },
    remove: async () => await removeOwnFolder(path),
  });
}

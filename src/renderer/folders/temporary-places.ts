// Where our folders may lie. A browser opens a socket in a folder of its own inside ours, and the
// path of a socket is short on every system: a longer TMPDIR can't be used, and a short place is.
// Who cleans up looks in all of them, because nobody knows what TMPDIR was before.
import { tmpdir } from 'node:os';
import process from 'node:process';

/** macOS takes one byte more, Linux five. */
const SOCKET_PATH_BYTES_MAX = 102;
/** What Chromium makes in its temporary folder. */
const CHROMIUM_SOCKET = '/org.chromium.Chromium.XXXXXX/SingletonSocket';

/** Every place, the preferred first. */
export function listPlaces(): readonly string[] {
  const userId = process.getuid?.();
  return [...new Set([tmpdir(), '/tmp', ...(userId === undefined ? [] : [`/run/user/${userId}`])])];
}

/** Bytes that a place may have when we make so many of it, and Chromium its socket in that. */
export function placeBytesMax(ownBytes: number): number {
  return SOCKET_PATH_BYTES_MAX - CHROMIUM_SOCKET.length - ownBytes;
}

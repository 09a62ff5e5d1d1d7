// Which process holds the other end of a loopback connection: from the kernel's own tables.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The one of these processes that has a TCP socket with this local port; null: none of them. */
export function findSocketOwner(localPort: number, pids: readonly number[]): number | null {
  const inodes = new Set(socketsAt([localPort]).map(({ inode }) => inode));
  return pids.find((pid) => openFiles(pid).some((name) => inodes.has(name))) ?? null;
}

/** How many connections to these ports a process holds; one that either side has ended is none. */
export function countConnections(pid: number, localPorts: readonly number[]): number {
  const open = socketsAt(localPorts).filter(({ state }) => state === ESTABLISHED);
  const inodes = new Set(open.map(({ inode }) => inode));
  return openFiles(pid).filter((name) => inodes.has(name)).length;
}

const ESTABLISHED = '01';

/** Sockets of all processes by their local port; `inode` is what their files are called. */
function socketsAt(
  localPorts: readonly number[],
): readonly { readonly state: string; readonly inode: string }[] {
  const ends = localPorts.map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`);
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => ends.some((end) => local?.endsWith(end) === true))
    .map(([, , , state = '', , , , , , inode = '']) => ({ state, inode: `socket:[${inode}]` }));
}

function openFiles(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // It was closed between the listing and now.
      return [];
    }
  });
}

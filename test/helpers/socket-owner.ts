// Which process holds the other end of a loopback connection: from the kernel's own tables.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The one of these processes that has a TCP socket with this local port; null: none of them. */
export function findSocketOwner(localPort: number, pids: readonly number[]): number | null {
  const hexPort = localPort.toString(16).toUpperCase().padStart(4, '0');
  const inodes = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => local?.endsWith(`:${hexPort}`) === true)
    .map((fields) => `socket:[${fields[9]}]`);
  return pids.find((pid) => openFiles(pid).some((name) => inodes.includes(name))) ?? null;
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

// What one configuration may cost to read. A file beyond these is a mistake or an attack, and is
// refused before it is parsed or before its content is looked at.
export const CAPS = {
  fileBytesMax: 4 * 1024 * 1024,
  filesMax: 1_000,
  /** Folders below each other, and names in all, that a glob of files walks through. */
  walkDepthMax: 16,
  walkNamesMax: 100_000,
  depthMax: 40,
  /** Keys of one map: no section has more, and hosts and rules are lists. */
  keysPerMapMax: 2_000,
  nodesMax: 1_000_000,
} as const;

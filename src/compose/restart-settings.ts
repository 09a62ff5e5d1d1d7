// What is built once at start and stays as it is over reloads, in one table: what a reload says
// about it, and what a worker that comes later has to keep so that all are alike.
import type { Settings } from '../config/settings.ts';

interface StartSetting {
  /** As an operator knows it. */
  readonly name: string;
  readonly read: (settings: Settings) => unknown;
  /** `next`, with this setting as it was at start. */
  readonly keep: (next: Settings, atStart: Settings) => Settings;
}

const START_SETTINGS: readonly StartSetting[] = [
  ofServer('listen'),
  {
    name: 'server.tls',
    // Certificates are read from where the newest configuration says.
    read: ({ server }) => server.tls?.listen ?? null,
    keep: (next, { server: { tls } }) => ({
      ...next,
      server: {
        ...next.server,
        tls:
          tls === null || next.server.tls === null
            ? tls
            : { ...next.server.tls, listen: tls.listen },
      },
    }),
  },
  ofServer('limits'),
  ofServer('workers'),
  whole('integration'),
  {
    name: 'admin.listen',
    read: ({ admin }) => admin.listen,
    keep: (next, { admin: { listen } }) => ({ ...next, admin: { ...next.admin, listen } }),
  },
  whole('redis'),
  whole('storage'),
  whole('memory'),
  {
    name: 'render.chromium.executable_path',
    read: ({ render }) => render.chromium.executablePath,
    keep: (next, { render: { chromium } }) => {
      const { executablePath } = chromium;
      const kept = { ...next.render.chromium, executablePath };
      return { ...next, render: { ...next.render, chromium: kept } };
    },
  },
];

function ofServer(key: 'listen' | 'limits' | 'workers'): StartSetting {
  return {
    name: `server.${key}`,
    read: ({ server }) => server[key],
    keep: (next, { server }) => ({ ...next, server: { ...next.server, [key]: server[key] } }),
  };
}

function whole(key: 'integration' | 'redis' | 'storage' | 'memory'): StartSetting {
  return {
    name: key,
    read: (settings) => settings[key],
    keep: (next, atStart) => ({ ...next, [key]: atStart[key] }),
  };
}

/** Names of the settings that differ and only count after a restart. */
export function findRestartSettings(before: Settings, after: Settings): readonly string[] {
  return START_SETTINGS.filter(
    ({ read }) => JSON.stringify(read(before)) !== JSON.stringify(read(after)),
  ).map(({ name }) => name);
}

/** New settings as they count beside processes that started with other ones. */
export function keepStartSettings(next: Settings, atStart: Settings): Settings {
  return START_SETTINGS.reduce((settings, { keep }) => keep(settings, atStart), next);
}

/** After a rolling restart: ports and stores stay, and what only workers have is made anew. */
export function renewWorkerSettings(newest: Settings, atStart: Settings): Settings {
  const kept = keepStartSettings(newest, atStart);
  return { ...kept, server: { ...kept.server, limits: newest.server.limits } };
}

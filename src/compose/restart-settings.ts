// What is built once at start and stays as it is over reloads, in one table: what a reload says
// about it, and what a worker that comes later has to keep so that all are alike.
import type { Settings } from '../config/settings.ts';

type Parts = Readonly<Record<string, unknown>>;

function partsOf({ server, integration, admin, redis, storage, memory }: Settings): Parts {
  return {
    'server.listen': server.listen,
    'server.tls': server.tls,
    'server.limits': server.limits,
    'server.workers': server.workers,
    integration,
    'admin.listen': admin.listen,
    redis,
    storage,
    memory,
  };
}

/** Names of the settings that differ and only count after a restart. */
export function findRestartSettings(before: Settings, after: Settings): readonly string[] {
  const old = partsOf(before);
  return Object.entries(partsOf(after))
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]))
    .map(([name]) => name);
}

/** New settings as they count beside processes that started with other ones. */
export function keepStartSettings(next: Settings, atStart: Settings): Settings {
  const { listen, limits, workers } = atStart.server;
  return {
    ...next,
    server: { ...next.server, listen, limits, workers, tls: keepTls(next, atStart) },
    integration: atStart.integration,
    admin: { ...next.admin, listen: atStart.admin.listen },
    redis: atStart.redis,
    storage: atStart.storage,
    memory: atStart.memory,
  };
}

/** After a rolling restart: ports and stores stay, and what only workers have is made anew. */
export function renewWorkerSettings(newest: Settings, atStart: Settings): Settings {
  const kept = keepStartSettings(newest, atStart);
  return { ...kept, server: { ...kept.server, limits: newest.server.limits } };
}

/** Certificates are read from where the newest configuration says. */
function keepTls(next: Settings, atStart: Settings): Settings['server']['tls'] {
  const { tls } = atStart.server;
  return tls === null || next.server.tls === null
    ? tls
    : { ...next.server.tls, listen: tls.listen };
}

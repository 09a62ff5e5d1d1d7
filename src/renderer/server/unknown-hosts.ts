// Tells the operator which hosts are asked for and not configured here: each once a minute, and no
// more than a hundred of them, for whoever asks chooses the names.
import type { Log } from '../options.ts';

const PERIOD_MS = 60_000;
const HOSTS_MAX = 100;
const NAME_CHARS_MAX = 253;
const HINT = 'add it to the hosts files of this service; a copy from the gateway will do';

/** @param now of a clock that only goes forward; milliseconds */
export function createUnknownHostTeller(log: Log, now: () => number): (host: string) => void {
  const told = new Set<string>();
  let since = now();
  return (name) => {
    const host = name.slice(0, NAME_CHARS_MAX);
    if (now() - since >= PERIOD_MS) {
      told.clear();
      since = now();
    }
    if (told.has(host) || told.size >= HOSTS_MAX) return;
    told.add(host);
    log('warn', 'page refused: its host is unknown to the renderer', { host, hint: HINT });
  };
}

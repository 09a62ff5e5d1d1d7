// Keys that are accepted and have no effect: those of the reference engine that something else
// replaces. One table, one warning a key, however often it is written.
import { type ConfigNode, descend, itemsOf, reportWarning } from './config-node.ts';

interface InactiveKey {
  /** Dotted path below the file's root, or below a level of policy for `anyLevel`. */
  readonly path: string;
  readonly message: string;
  readonly hint: string | null;
  readonly anyLevel?: boolean;
  /** Whether a value asks for nothing and deserves no warning. */
  readonly isQuiet?: (value: unknown) => boolean;
}

function replaced(path: string, message: string, hint: string | null): InactiveKey {
  return { path, message, hint };
}

const KEYS: readonly InactiveKey[] = [
  replaced('eg_id', 'is not used here', 'instances need no name: they share Redis, not files'),
  replaced(
    'internal',
    'is not used here',
    'instances don’t call each other; admin.listen is the API',
  ),
  replaced('registry', 'is not used here', 'list the render services in render.service.urls'),
  replaced('event_logging', 'is not used here', 'each request is one JSON line on standard output'),
  {
    ...replaced(
      'cache_sharding',
      'is not used here',
      'several machines share Redis, see redis.url',
    ),
    anyLevel: true,
  },
  {
    ...replaced('client_ip', 'is not used here', 'name the proxies in server.trusted_proxies'),
    anyLevel: true,
  },
  replaced('storage.compression', 'is not used here', 'bodies are stored as br and gzip as well'),
  replaced('storage.cleanup.safety_margin', 'is not used here', null),
  replaced(
    'bypass.ssrf_protection',
    'is not used here',
    'only configured hosts are fetched, from their configured origin',
  ),
  {
    ...replaced('bypass.enabled', 'is not used here', 'use unmatched_dimension or a URL rule'),
    anyLevel: true,
  },
  replaced('log.console', 'is not used here', 'the log is JSON on standard output'),
  replaced('log.file', 'is not used here', 'redirect standard output to a file'),
  replaced('metrics', 'is not used here', 'metrics are at /metrics of admin.listen'),
];

const UNSHARED = 'makes pages that are not stored, whenever a client sends one of these headers';

/** Warns once for each key that is written somewhere. */
export function warnInactive(gateway: ConfigNode, hostFiles: readonly ConfigNode[]): void {
  const hosts = hostFiles.flatMap((root) => itemsOf(descend(root, 'hosts')));
  const rules = hosts.flatMap((host) => itemsOf(descend(host, 'url_rules')));
  for (const key of KEYS) {
    const levels = key.anyLevel === true ? [gateway, ...hosts, ...rules] : [gateway];
    warnOnce(key, levels);
  }
  for (const path of ['headers.safe_request', 'headers.safe_request_add']) {
    const hint = 'they are not in the key; leave them out if crawlers send them';
    const key = { path, message: UNSHARED, hint, isQuiet: isEmptyList };
    warnOnce(key, [gateway, ...hosts, ...rules]);
  }
  warnFewerLogLevels(gateway);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function warnOnce(key: InactiveKey, levels: readonly ConfigNode[]): void {
  const written = levels.flatMap((level) => {
    const node = descend(level, key.path);
    return node === undefined || key.isQuiet?.(node.value) === true ? [] : [node];
  });
  const [first, ...others] = written;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and at ${others.length} more places)`;
  reportWarning(first, `\`${key.path}\` ${key.message}${more}`, key.hint);
}

function warnFewerLogLevels(gateway: ConfigNode): void {
  const level = descend(gateway, 'log.level');
  if (level === undefined || !['dpanic', 'panic', 'fatal'].includes(String(level.value))) return;
  reportWarning(level, 'this log level is not used here', 'it is read as "error"');
}

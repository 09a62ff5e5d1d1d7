// What belongs to the process: listeners, stores, log. Paths in a file are relative to its folder.
import { dirname, resolve } from 'node:path';
import { type ConfigNode, descend, namePlace, reportError } from './config-node.ts';
import { firstWritten, pick, pickOptional } from './levels.ts';
import {
  readAt,
  readFlag,
  readList,
  readNumber,
  readParsed,
  readSize,
  readText,
  readTimeout,
  readWord,
  takeParsed,
} from './read-values.ts';
import { readRedis } from './redis-settings.ts';
import type {
  AdminSettings,
  ListenAddress,
  RenderServiceSettings,
  ServerLimits,
  Settings,
  StorageSettings,
  TlsSettings,
} from './settings.ts';
import { parseCidr } from './values/parse-cidr.ts';
import { isLoopback, isSameListener, parseListen } from './values/parse-listen.ts';
import { parseServiceUrl } from './values/parse-origin.ts';

type Roots = readonly ConfigNode[];

/**
 * Compiles the settings.
 *
 * @param roots the user's file, then layer 0
 * @param file path of the user's file
 */
export function compileSettings(roots: Roots, file: string): Settings {
  const folder = dirname(resolve(file));
  const settings: Settings = {
    server: {
      listen: pick(roots, 'server.listen', readListen),
      tls: readTls(roots, folder),
      workers: pick(roots, 'server.workers', readWorkers),
      timeoutMs: pick(roots, 'server.timeout', readTimeout),
      trustedProxies: pick(roots, 'server.trusted_proxies', readList(readParsed(parseCidr))),
      limits: readLimits(roots),
      watchConfig: pick(roots, 'server.watch_config', readFlag),
    },
    integration: readIntegration(roots),
    admin: readAdmin(roots),
    redis: pickOptional(roots, 'redis', readRedis),
    storage: readStorage(roots, folder),
    memory: { bytesMax: pick(roots, 'memory.max_bytes', readSize) },
    render: {
      engine: pick(roots, 'render.engine', readWord('chromium', 'service', 'origin', 'off')),
      chromium: {
        executablePath: pickOptional(roots, 'render.chromium.executable_path', readPath),
        tabs: pick(roots, 'render.chromium.tabs', readNumber),
        queueMax: pick(roots, 'render.chromium.queue', readNumber),
      },
      service: readService(roots),
      refreshShare: pick(roots, 'render.refresh_share', readNumber),
    },
    diagnostics: pick(roots, 'diagnostics', readWord('headers', 'off')),
    log: { level: pick(roots, 'log.level', readLogLevel) },
  };
  checkListeners(roots, settings);
  return settings;
}

/** Where the running gateway is asked, and with what. */
export function readAdmin(roots: Roots): AdminSettings {
  return {
    listen: pick(roots, 'admin.listen', readListen),
    token: pickOptional(roots, 'admin.token', readToken),
  };
}

function readListen(node: ConfigNode): ListenAddress | undefined {
  if (typeof node.value !== 'string' && typeof node.value !== 'number') return undefined;
  return takeParsed(node, parseListen(node.value));
}

function readWorkers(node: ConfigNode): number | 'auto' | undefined {
  return node.value === 'auto' ? 'auto' : readNumber(node);
}

function readStorage(roots: Roots, folder: string): StorageSettings {
  const isSwept = pick(roots, 'storage.cleanup.enabled', readFlag);
  const bodies = pick(roots, 'storage.bodies', readWord('filesystem', 'redis'));
  const node = firstWritten(roots, 'storage.bodies');
  if (bodies === 'redis' && firstWritten(roots, 'redis') === undefined && node !== undefined) {
    reportError(node, '`storage.bodies: redis` needs `redis`', 'write the redis block');
  }
  const intervalMs = pick(roots, 'storage.cleanup.interval', readTimeout);
  return {
    basePath: resolve(folder, pick(roots, 'storage.base_path', readPath)),
    bodies,
    bytesMax: pick(roots, 'storage.max_bytes', readPositiveSize),
    cleanupIntervalMs: isSwept ? intervalMs : null,
  };
}

function readPath(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text !== '') return text;
  reportError(node, 'an empty path');
  return undefined;
}

function readToken(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined || /^[\x21-\x7e]+$/.test(text)) return text;
  reportError(
    node,
    text === '' ? 'the token is empty' : 'a token with a space or control character',
    'use printable ASCII characters',
  );
  return undefined;
}

/** The reference engine has three more words for what is worse than an error. */
function readLogLevel(node: ConfigNode): Settings['log']['level'] | undefined {
  if (['dpanic', 'panic', 'fatal'].includes(String(node.value))) return 'error';
  return readWord('debug', 'info', 'warn', 'error', 'silent')(node);
}

function readTls(roots: Roots, folder: string): TlsSettings | null {
  const node = firstWritten(roots, 'server.tls');
  if (node === undefined || pickOptional(roots, 'server.tls.enabled', readFlag) !== true)
    return null;
  const listen = readAt(node, 'listen', readListen);
  const certFile = readAt(node, 'cert_file', readPath);
  const keyFile = readAt(node, 'key_file', readPath);
  const missing = ['listen', 'cert_file', 'key_file'].filter((key) => !descend(node, key));
  if (missing.length > 0) reportError(node, `server.tls needs ${missing.join(' and ')}`);
  if (listen === undefined || certFile === undefined || keyFile === undefined) return null;
  return { listen, certFile: resolve(folder, certFile), keyFile: resolve(folder, keyFile) };
}

function readIntegration(roots: Roots): Settings['integration'] {
  const node = firstWritten(roots, 'integration');
  if (node === undefined || pickOptional(roots, 'integration.enabled', readFlag) !== true)
    return null;
  if (descend(node, 'listen') === undefined) {
    reportError(
      node,
      '`integration.enabled` needs `integration.listen`',
      'write for example listen: "127.0.0.1:8081"',
    );
  }
  const listen = readAt(node, 'listen', readListen);
  return listen === undefined ? null : { listen };
}

function readLimits(roots: Roots): ServerLimits {
  const at = (key: string): string => `server.limits.${key}`;
  return {
    headerFieldsMax: pick(roots, at('header_fields'), readNumber),
    headerBytesMax: pick(roots, at('header_bytes'), readPositiveSize),
    bodyBytesMax: pick(roots, at('body_bytes'), readSize),
    connectionsMax: pick(roots, at('connections'), readNumber),
    pageBytesMax: pick(roots, at('page_bytes'), readPositiveSize),
    waitersPerKeyMax: pick(roots, at('waiters_per_key'), readNumber),
    headersTimeoutMs: pick(roots, at('headers_timeout'), readTimeout),
    bodyIdleTimeoutMs: pick(roots, at('body_timeout'), readTimeout),
    keepAliveTimeoutMs: pick(roots, at('idle_timeout'), readTimeout),
  };
}

function readPositiveSize(node: ConfigNode): number | undefined {
  const bytes = readSize(node);
  if (bytes !== 0) return bytes;
  reportError(node, 'must be more than 0');
  return undefined;
}

function readService(roots: Roots): RenderServiceSettings | null {
  const urls = pickOptional(roots, 'render.service.urls', readList(readParsed(parseServiceUrl)));
  const engine = firstWritten(roots, 'render.engine');
  if (engine?.value === 'service' && (urls === null || urls.length === 0)) {
    reportError(
      firstWritten(roots, 'render.service.urls') ?? engine,
      '`render.engine: service` needs `render.service.urls`',
      'write for example urls: ["http://127.0.0.1:10080"]',
    );
  }
  if (urls === null) return null;
  const protocol = pickOptional(
    roots,
    'render.service.protocol',
    readWord('edge-gateway', 'prerender', 'rendertron', 'browserless'),
  );
  return {
    urls,
    token: pickOptional(roots, 'render.service.token', readToken),
    protocol: protocol ?? 'edge-gateway',
  };
}

function checkListeners(roots: Roots, settings: Settings): void {
  const { server, integration, admin } = settings;
  const adminNode = firstWritten(roots, 'admin.listen');
  if (adminNode !== undefined && admin.token === null && !isLoopback(admin.listen)) {
    reportError(
      adminNode,
      'without `admin.token` the admin listener may only be bound to this machine',
      'set admin.token, or listen on 127.0.0.1',
    );
  }
  const listeners = [
    ['server.listen', server.listen],
    ['server.tls.listen', server.tls?.listen ?? null],
    ['integration.listen', integration?.listen ?? null],
    ['admin.listen', admin.listen],
  ] as const;
  for (const [index, [path, listen]] of listeners.entries()) {
    for (const [otherPath, other] of listeners.slice(0, index)) {
      if (listen === null || other === null || !isSameListener(listen, other)) continue;
      reportClash(roots, [otherPath, path], listen.port);
    }
  }
}

/** Said at the place the user wrote; a default is never to blame. */
function reportClash(roots: Roots, paths: readonly [string, string], port: number): void {
  const [first, second] = paths.map((path) => firstWritten(roots, path));
  if (first === undefined || second === undefined) return;
  const blamed = second.document === roots[0]?.document ? second : first;
  const other = blamed === second ? first : second;
  reportError(
    blamed,
    `port ${port} is also used by ${other === first ? paths[0] : paths[1]} at ${namePlace(other)}`,
    'each listener needs a port of its own',
  );
}

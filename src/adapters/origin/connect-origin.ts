// Connections to origins: kept alive, bounded in number, certificates verified. Node's own client
// is used instead of undici because only it takes a raw header list and gives one back, with
// trailers and interim answers, and sends a target exactly as it stands.
import http from 'node:http';
import https from 'node:https';
import { LIMITS } from '../../core/limits.ts';
import type { OriginConnector } from '../../pipeline/origin-ports.ts';

/** Per origin. Requests beyond it wait, bounded by their own timeout. */
const SOCKETS_MAX = 512;
const IDLE_SOCKETS_MAX = 64;
/** Shorter than most servers keep an idle connection, so that reuse rarely meets a closed one. */
const IDLE_TIMEOUT_MS = 4_000;

const AGENT_OPTIONS = {
  keepAlive: true,
  maxSockets: SOCKETS_MAX,
  maxFreeSockets: IDLE_SOCKETS_MAX,
  scheduling: 'lifo',
  timeout: IDLE_TIMEOUT_MS,
} as const;

/** Opens no connection yet. */
export function connectOrigins(): OriginConnector {
  const kept = {
    http: new http.Agent(AGENT_OPTIONS),
    https: new https.Agent({ ...AGENT_OPTIONS, rejectUnauthorized: true }),
  };
  const addresses = new Map<string, URL>();

  const addressOf = (originUrl: string): URL => {
    const known = addresses.get(originUrl);
    if (known !== undefined) return known;
    const address = new URL(originUrl);
    addresses.set(originUrl, address);
    return address;
  };

  return {
    open: (call) => {
      const { protocol, hostname, port } = addressOf(call.originUrl);
      const options = {
        // Node wants IPv6 addresses without the brackets of a URL.
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? undefined : Number(port),
        method: call.method,
        path: call.target,
        headers: call.headers,
        maxHeaderSize: LIMITS.originHeadBytesMax,
        insecureHTTPParser: false,
      };
      const request =
        protocol === 'https:'
          ? https.request({
              ...options,
              rejectUnauthorized: true,
              agent: call.isOnNewConnection ? false : kept.https,
            })
          : http.request({ ...options, agent: call.isOnNewConnection ? false : kept.http });
      // Node drops fields beyond its count silently; the size above is the limit.
      request.maxHeadersCount = 0;
      return request;
    },
    close: () => {
      kept.http.destroy();
      kept.https.destroy();
    },
  };
}

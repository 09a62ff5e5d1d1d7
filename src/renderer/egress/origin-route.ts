// The way from a page to its own host's configured origin: connections kept over renders, the marks
// that say "this is a render", and the fields that name the public site. Only requests to the own
// host are written here, so nobody else ever sees a mark.
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { filterEndToEnd } from '../../core/http/filter-headers.ts';
import type { HeaderList } from '../../core/http/header-list.ts';
import { RENDER_HOP_HEADER, renderMarks } from '../../core/http/render-loop.ts';
import { toPairs } from '../../core/http/to-pairs.ts';
import type { RenderHost } from '../options.ts';

/** Connections to origins, shared by all renders. */
export interface OriginAgents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  readonly close: () => void;
}

export interface OriginRoute {
  readonly host: RenderHost;
  readonly agents: OriginAgents;
  /** How many renders deep a request to the origin is. */
  readonly hops: number;
  readonly pseudonym: string;
}

/** One request of a page to its own host. */
export interface PageCall {
  readonly method: string;
  /** Path and query, as text. */
  readonly target: string;
  readonly headers: HeaderList;
  /** Host and port of the page's URL. */
  readonly authority: string;
  readonly isUpgrade: boolean;
}

const AGENT_OPTIONS = { keepAlive: true, maxFreeSockets: 32, timeout: 4_000 } as const;
const HEADER_BYTES_MAX = 65_536;

/** Written by us; a page must not speak for a proxy. */
const OURS = /^(?:host|via|forwarded|x-forwarded-.*|x-prerender)$/;

/** Opens no connection yet. */
export function createOriginAgents(): OriginAgents {
  const agents = {
    http: new http.Agent(AGENT_OPTIONS),
    https: new https.Agent({ ...AGENT_OPTIONS, rejectUnauthorized: true }),
  };
  return {
    ...agents,
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Starts a request to an origin; the body is the caller's to write. */
export function openOrigin(originUrl: string, call: PageCall, route: OriginRoute): ClientRequest {
  const { protocol, hostname, port } = new URL(originUrl);
  const isSecure = protocol === 'https:';
  const agent = isSecure ? route.agents.https : route.agents.http;
  const request = (isSecure ? https : http).request({
    // Node wants IPv6 addresses without the brackets of a URL.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : Number(port),
    method: call.method,
    path: call.target,
    headers: writeHeaders(call, route).flat(),
    agent: call.isUpgrade ? false : agent,
    maxHeaderSize: HEADER_BYTES_MAX,
    timeout: 0,
  });
  request.maxHeadersCount = 0;
  return request;
}

function writeHeaders(call: PageCall, { host, hops, pseudonym }: OriginRoute): HeaderList {
  const kept = filterEndToEnd(call.headers).filter(([name]) => {
    const folded = name.toLowerCase();
    return !OURS.test(folded) && folded !== RENDER_HOP_HEADER;
  });
  const framing = call.headers.filter(([name]) =>
    /^(?:content-length|transfer-encoding)$/i.test(name),
  );
  const upgrade = call.headers.filter(([name]) => /^upgrade$/i.test(name));
  return [
    ['Host', host.originHostHeader ?? call.authority],
    ...kept,
    ...framing,
    ...(call.isUpgrade ? [...upgrade, ['Connection', 'Upgrade'] as const] : []),
    ['X-Forwarded-Proto', host.scheme],
    ['X-Forwarded-Host', call.authority],
    ['Via', `1.1 ${pseudonym}`],
    ...renderMarks(hops),
  ];
}

/** The fields of an origin's answer for the page, as a raw list; framing is kept. */
export function answerHeaders(answer: IncomingMessage): string[] {
  const fields = toPairs(answer.rawHeaders);
  const framing = fields.filter(([name]) => /^content-length$/i.test(name));
  return [...filterEndToEnd(fields), ...framing].flat();
}

/** Whether an error means that the origin was never reached, so that another may be tried. */
export function isConnectFailure(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/.test(code);
}

// Fetches one published list: https only, redirects only to hosts of the same owner, a cap on size,
// one deadline for the whole.
import type { IncomingMessage } from 'node:http';
import { get, type RequestOptions } from 'node:https';
import { err, ok, type Result } from '../../core/result.ts';

export interface ListRequest {
  readonly url: string;
  /** Domains, with everything below them, that a redirect may lead to. */
  readonly domains: readonly string[];
  /** Of the copy at hand; null: there is none. */
  readonly etag: string | null;
  readonly timeoutMs: number;
  /** How connections are made: tests bring their own certificate and name look-up. */
  readonly connection: Pick<RequestOptions, 'ca' | 'lookup'>;
}

export type FetchedList =
  | { readonly state: 'unchanged' }
  | { readonly state: 'fetched'; readonly text: string; readonly etag: string | null };

const REDIRECTS_MAX = 5;
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Never throws for what a server does; the error is a sentence for a person. */
export async function fetchList(request: ListRequest): Promise<Result<FetchedList, string>> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  let url = request.url;
  try {
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      const target = checkTarget(url, request);
      if (!target.ok) return target;
      const response = await ask(target.value, request, signal);
      const status = response.statusCode ?? 0;
      if (status === 304 && request.etag !== null) {
        response.destroy();
        return ok({ state: 'unchanged' });
      }
      if (status === 200) return await readList(response);
      response.destroy();
      const location = response.headers.location;
      if (!REDIRECT_STATUSES.has(status) || location === undefined) return err(`status ${status}`);
      if (!URL.canParse(location, url)) return err('a redirect to no URL');
      url = new URL(location, url).href;
    }
    return err(`more than ${REDIRECTS_MAX} redirects`);
  } catch (error) {
    if (signal.aborted) return err(`no answer within ${request.timeoutMs / 1000} s`);
    return err(error instanceof Error ? error.message : String(error));
  }
}

function checkTarget(url: string, { url: listed, domains }: ListRequest): Result<URL, string> {
  const target = new URL(url);
  if (target.protocol !== 'https:') return err(`not https: ${url}`);
  const { hostname } = target;
  const isOwners =
    hostname === new URL(listed).hostname ||
    domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
  return isOwners ? ok(target) : err(`a redirect to another owner: ${hostname}`);
}

async function ask(
  url: URL,
  { etag, connection }: ListRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = {
    accept: 'application/json, text/plain;q=0.9',
    'accept-encoding': 'identity',
    'user-agent': 'edge-gateway bots refresh',
    ...(etag === null ? {} : { 'if-none-match': etag }),
  };
  return await new Promise((resolve, reject) => {
    const request = get(url, { ...connection, headers, signal, agent: false }, resolve);
    request.once('error', reject);
  });
}

async function readList(response: IncomingMessage): Promise<Result<FetchedList, string>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > BODY_BYTES_MAX) return err(`more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  const etag = response.headers.etag ?? null;
  return ok({ state: 'fetched', text: Buffer.concat(chunks).toString('utf8'), etag });
}

// The request that fills the cache: written anew from the job, never copied from a client. The
// path and query are the text of the normalized URL, so what is keyed is what is fetched.
import type { Dispatcher } from 'undici';
import { dropNeverFilled } from '../../../core/http/filter-headers.ts';
import type { PageJob } from '../../../pipeline/ports.ts';
import { type ServerName, serverName } from '../server-name.ts';

export interface FillTarget {
  /** `https://shop.example:8443`: what the client knows the page's site by. */
  readonly publicOrigin: string;
  /** Host and port of it. */
  readonly authority: string;
  /** Path and query, as text. */
  readonly path: string;
}

type FillOptions = Dispatcher.RequestOptions & ServerName;

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Splits a normalized URL, which always has a scheme, an authority and a path. */
export function splitTarget(url: string): FillTarget {
  const [, publicOrigin = '', authority = '', path = ''] =
    /^([a-z]+:\/\/([^/?#]+))(\/.*)$/s.exec(url) ?? [];
  if (path === '') throw new Error('a page job without a normalized URL');
  return { publicOrigin, authority, path };
}

/** The request for one job to one of its host's origins. */
export function buildFillRequest(job: PageJob, origin: string, via: string): FillOptions {
  const target = splitTarget(job.url);
  const { host, dimension } = job;
  const along = dropNeverFilled(job.headers).filter(
    ([name]) => dimension.locale === null || name.toLowerCase() !== 'accept-language',
  );
  const headers: (readonly [string, string])[] = [
    ['Host', host.originHostHeader ?? target.authority],
    ['User-Agent', dimension.renderUserAgent],
    ['Accept', ACCEPT],
    ['Accept-Encoding', 'gzip, br'],
    ['X-Forwarded-Proto', host.scheme],
    ['X-Forwarded-Host', target.authority],
    ['Via', via],
    ...along,
  ];
  if (dimension.locale !== null) headers.push(['Accept-Language', dimension.locale]);
  return {
    method: 'GET',
    path: target.path,
    headers: headers.flat(),
    responseHeaders: 'raw',
    ...serverName(origin),
  };
}

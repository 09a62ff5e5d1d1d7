// The prerender wire contract as its client: hosted services and the self-hosted server. The URL
// goes into the path as it stands, query and all.
import { randomUUID } from 'node:crypto';
import { firstHeader } from '../../../core/http/header-list.ts';
import type { Dialect } from './dialect.ts';
import { pageHeaders } from './page-headers.ts';

/** Of this client, as the contract wants it; not the gateway's. */
const CLIENT_VERSION = '1.0.0';

export const prerender: Dialect = {
  buildCall: (job, token) => ({
    method: 'GET',
    path: `/${job.url}`,
    headers: [
      ...pageHeaders(job),
      ['accept-encoding', 'gzip, br'],
      ['x-prerender-int-type', 'EdgeGateway'],
      ['x-prerender-int-version', CLIENT_VERSION],
      ['x-prerender-request-id', randomUUID()],
      ...(token === null ? [] : [['x-prerender-token', token] as const]),
    ],
    body: null,
  }),
  readHead: ({ status, headers }) => ({
    status,
    headers: headers.filter(([name]) => !/^x-prerender-/i.test(name)),
    location: firstHeader(headers, 'location'),
  }),
  // It has no health endpoint; that it answers at all is what can be seen.
  readyPath: () => '/',
  isReadyStatus: (status) => status < 500,
};

// Rendertron's `GET /render/<url>`, the URL percent-encoded as one path segment. It marks what it
// rendered, so an answer without the mark is somebody else's. It follows redirects itself.
import { firstHeader } from '../../../core/http/header-list.ts';
import type { Dialect } from './dialect.ts';
import { pageHeaders } from './page-headers.ts';

const MARK = 'x-renderer';
/** Narrower than this is a phone: all that the service can be told of a viewport. */
const MOBILE_PIXELS_BELOW = 768;

export const rendertron: Dialect = {
  buildCall: (job) => ({
    method: 'GET',
    path: `/render/${encodeURIComponent(job.url)}${mobileFlag(job.dimension.width)}`,
    headers: [...pageHeaders(job), ['accept-encoding', 'gzip, br']],
    body: null,
  }),
  readHead: ({ status, headers }) =>
    firstHeader(headers, MARK) === null
      ? null
      : {
          status,
          headers: headers.filter(([name]) => name.toLowerCase() !== MARK),
          location: firstHeader(headers, 'location'),
        },
  readyPath: () => '/_ah/health',
  isReadyStatus: (status) => status === 200,
};

function mobileFlag(width: number): string {
  return width < MOBILE_PIXELS_BELOW ? '?mobile' : '';
}

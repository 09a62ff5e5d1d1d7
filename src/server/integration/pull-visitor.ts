// The client behind a pull request: what the pipeline sees, and what an origin is sent when the
// page is passed on. The key stops here; the marks of a render go along, by which front proxies
// and middlewares know not to send the request round again.
import { fieldValues, type RawHeaders, visitFields } from '../../core/http/hop-headers.ts';
import { renderMarks } from '../../core/http/render-loop.ts';
import type { InnerRequest } from '../bypass/ports.ts';
import type { Visitor } from '../gateway/receive-request.ts';
import { isRequestId } from '../gateway/request-id.ts';
import type { AskedPage } from './asked-page.ts';

/** Fields between the one who asks and us. */
const BETWEEN_US = /^(?:x-render-key|x-edge-render|x-prerender(?:-.*)?)$/;
const REQUEST_ID_FIELDS = ['x-request-id', 'x-prerender-request-id'];

/**
 * The client the page is for.
 *
 * @param asker as `receiveRequest` read it; it has shown its key, so its request id is believed
 * @param isTrustedPeer whether its X-Forwarded-For is: without, the client's address is not known
 */
export function toPageVisitor(
  asker: Visitor,
  page: AskedPage,
  { raw, isTrustedPeer }: { readonly raw: RawHeaders; readonly isTrustedPeer: boolean },
): Visitor {
  const { client } = asker;
  const isForwarded = isTrustedPeer && fieldValues(raw, 'x-forwarded-for').length > 0;
  return {
    ...asker,
    publicHost: page.publicHost,
    client: {
      ...client,
      url: page.url,
      hostName: page.hostName,
      address: isForwarded ? client.address : null,
      peer: null,
      headers: client.headers.filter(([name]) => !BETWEEN_US.test(name.toLowerCase())),
      requestId: readRequestId(raw) ?? client.requestId,
    },
  };
}

/** What the origin is sent for a page that is passed on. */
export function toInnerRequest(page: AskedPage, raw: RawHeaders): InnerRequest {
  const headers: string[] = [];
  visitFields(raw, (name, value, nameAsWritten) => {
    if (!BETWEEN_US.test(name)) headers.push(nameAsWritten, value);
  });
  return { target: page.target, headers: [...headers, ...renderMarks(1).flat()] };
}

function readRequestId(raw: RawHeaders): string | null {
  const given = REQUEST_ID_FIELDS.map((name) => fieldValues(raw, name)[0]);
  return given.find((id) => id !== undefined && isRequestId(id)) ?? null;
}

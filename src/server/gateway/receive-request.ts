// A request that passed the door, as the pipeline reads it: absolute URL, raw header list, an id.
import type { IncomingMessage } from 'node:http';
import { clientAddress } from '../../core/http/client-address.ts';
import { fieldValues, type RawHeaders } from '../../core/http/hop-headers.ts';
import { toPairs } from '../../core/http/to-pairs.ts';
import { latin1ToUrlText } from '../../core/url/bytes-to-text.ts';
import { normalizeHost } from '../../core/url/normalize-host.ts';
import type { ClientRequest } from '../../pipeline/state.ts';
import { isRequestId, nextRequestId } from './request-id.ts';

export interface Visitor {
  readonly client: ClientRequest;
  /** `Host` as the client wrote it, port included. */
  readonly publicHost: string;
  readonly address: string;
}

/** A request as it was on the wire, whoever parsed it. */
export interface WireRequest {
  readonly method: string;
  readonly httpVersion: string;
  readonly rawHeaders: RawHeaders;
  /** The other end of the connection. */
  readonly peer: string;
  readonly isEncrypted: boolean;
}

/**
 * @param requestTarget raw, in origin form, as the door left it
 * @param isTrusted whether an address is one of the trusted proxies
 */
export function receiveRequest(
  request: IncomingMessage,
  requestTarget: string,
  isTrusted: (address: string) => boolean,
): Visitor {
  const { method = '', httpVersion, rawHeaders, socket } = request;
  const isEncrypted = 'encrypted' in socket && socket.encrypted === true;
  const peer = socket.remoteAddress ?? '';
  return readVisitor(
    { method, httpVersion, rawHeaders, peer, isEncrypted },
    requestTarget,
    isTrusted,
  );
}

/** As `receiveRequest`, for what did not come as one of Node's requests. */
export function readVisitor(
  { method, httpVersion, rawHeaders: raw, peer, isEncrypted }: WireRequest,
  requestTarget: string,
  isTrusted: (address: string) => boolean,
): Visitor {
  const publicHost = fieldValues(raw, ':authority')[0] ?? fieldValues(raw, 'host')[0]?.trim() ?? '';
  const host = normalizeHost(publicHost.replace(/:[0-9]*$/, ''));
  // `OPTIONS *` asks about the whole server; what is decided for it is what goes for the root.
  const path = requestTarget === '*' ? '/' : latin1ToUrlText(requestTarget);
  const address = clientAddress(peer, fieldValues(raw, 'x-forwarded-for'), isTrusted);
  return {
    publicHost,
    address,
    client: {
      address,
      peer: { address: peer, isTrusted: isTrusted(peer) },
      method,
      url: `${isEncrypted ? 'https' : 'http'}://${publicHost}${path}`,
      hostName: host.ok ? host.value : '',
      headers: toPairs(raw),
      httpVersion,
      requestId: chooseRequestId(fieldValues(raw, 'x-request-id')[0], isTrusted(peer)),
    },
  };
}

/** @param given by whoever sent the request */
export function chooseRequestId(given: string | undefined, isTrustedPeer: boolean): string {
  return isTrustedPeer && given !== undefined && isRequestId(given) ? given : nextRequestId();
}

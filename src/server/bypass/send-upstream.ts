// One attempt, and at most one more, to get the head of an origin's answer. Ends in one way only:
// the answer, or a BypassError. The upstream request lives as long as the client's exchange: it is
// aborted the moment the client leaves, before and after the answer's head.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isLoop } from '../../core/http/forwarded.ts';
import { fieldValues } from '../../core/http/hop-headers.ts';
import { BypassError, toBypassError } from './bypass-error.ts';
import { checkAnswer } from './check-answer.ts';
import { type BodyFraming, bodyFraming, type Exchange, upstreamHeaders } from './exchange.ts';
import type { BypassDeps } from './ports.ts';
import { relayInformation } from './relay-information.ts';
import { type Upload, uploadBody } from './upload-body.ts';

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Sends the request on and waits for the head of the answer; its body is still to come. */
export async function sendUpstream(exchange: Exchange, deps: BypassDeps): Promise<IncomingMessage> {
  const { request, target } = exchange;
  if (isLoop(fieldValues(request.rawHeaders, 'via'), deps.pseudonym)) {
    throw new BypassError('proxy_loop_detected', 'the request has been here before');
  }
  const body = bodyFraming(request);
  if (body.kind === 'length' && deps.bodyBytesMax > 0 && body.bytes > deps.bodyBytesMax) {
    throw new BypassError('http_request_error', 'the announced body is larger than allowed');
  }
  const headers = upstreamHeaders(exchange, body, deps);
  const method = request.method ?? '';
  const call = { originUrl: target.originUrl, method, target: exchange.requestTarget, headers };
  const mayRetry = body.kind === 'none' && IDEMPOTENT.has(method);
  const first = deps.connector.open({ ...call, isOnNewConnection: false });
  try {
    return await awaitAnswer(exchange, first, body, deps);
  } catch (error) {
    if (!mayRetry || !hasDiedUnanswered(first, error)) throw error;
    const second = deps.connector.open({ ...call, isOnNewConnection: true });
    return await awaitAnswer(exchange, second, body, deps);
  }
}

/** Only a kept connection that the origin was just closing: nobody has worked on the request. */
function hasDiedUnanswered(upstream: ClientRequest, error: unknown): boolean {
  return (
    error instanceof BypassError && error.type === 'connection_terminated' && upstream.reusedSocket
  );
}

function awaitAnswer(
  exchange: Exchange,
  upstream: ClientRequest,
  body: BodyFraming,
  deps: BypassDeps,
): Promise<IncomingMessage> {
  const { response, target } = exchange;
  return new Promise((resolve, reject) => {
    let upload: Upload | null = null;
    let failure: BypassError | null = null;
    const timer = setTimeout(() => {
      // A slow client is the door's to end; here the origin's patience is measured.
      if (upload?.isWaitingForClient()) timer.refresh();
      // Not by its own error: a request that waits for a connection tells of it when it has one.
      else fail(timeoutError(upstream));
    }, target.timeoutMs);
    const fail = (error: BypassError): void => {
      clearTimeout(timer);
      failure ??= error;
      reject(failure);
      upstream.destroy();
    };
    let hasAnswer = false;
    let isWhole = (): boolean => false;
    // Bytes behind a whole answer break the connection, not the answer.
    upstream.on('error', (error) => {
      if (!isWhole()) fail(toBypassError(error));
    });
    upstream.once('close', () => {
      if (!hasAnswer) fail(new BypassError('connection_terminated', 'closed without an answer'));
    });
    upstream.on('information', (information) => relayInformation(exchange, information));
    upstream.once('upgrade', (_answer, socket) => {
      socket.destroy();
      fail(new BypassError('http_protocol_error', 'the origin switched protocols unasked'));
    });
    upstream.once('response', (answer) => {
      clearTimeout(timer);
      hasAnswer = true;
      isWhole = () => answer.complete;
      const flaw = checkAnswer(answer, exchange.request);
      if (flaw !== null) {
        fail(new BypassError('http_protocol_error', flaw));
        return;
      }
      // What the same packet holds is still being parsed: a broken body may be known in a moment.
      process.nextTick(() => (failure === null ? resolve(answer) : reject(failure)));
    });
    response.once('close', () => {
      // HTTP/2's response calls itself finished also when its stream was cancelled.
      const isAnswered = response.writableEnded && response.writableFinished;
      const isOver = isAnswered && upstream.writableEnded;
      if (!isOver) fail(new BypassError('client_left', 'the client left'));
    });
    if (response.destroyed) fail(new BypassError('client_left', 'the client left'));
    else {
      const onProgress = (): void => void timer.refresh();
      upload = uploadBody(exchange, upstream, body, {
        bodyBytesMax: deps.bodyBytesMax,
        onProgress,
      });
    }
  });
}

function timeoutError(upstream: ClientRequest): BypassError {
  const isConnected = upstream.socket !== null && !upstream.socket.connecting;
  return isConnected
    ? new BypassError('http_response_timeout', 'no answer in time')
    : new BypassError('connection_timeout', 'no connection in time');
}

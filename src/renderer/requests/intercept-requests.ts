// Every request of a page stops here before it is made; its main document also when the answer's
// head is there. Chromium waits for our word each time, so each pause gets exactly one.
import type { CDPSession } from 'playwright-core';
import type { HeaderList } from '../../core/http/header-list.ts';
import type { RequestFilter } from './request-filter.ts';

export interface PausedRequest {
  readonly url: string;
  readonly method: string;
  /** Chromium's name of the request in its network events. */
  readonly networkId: string;
}

export interface PausedAnswer extends PausedRequest {
  readonly status: number;
  readonly headers: HeaderList;
}

/** `abort` leaves the page where it is. */
export type PausedVerdict =
  | { readonly action: 'abort' }
  | { readonly action: 'continue'; readonly headers: HeaderList };

export interface MainDocument {
  readonly onRequest: (request: PausedRequest) => PausedVerdict;
  readonly onAnswer: (answer: PausedAnswer) => PausedVerdict;
}

/** Starts intercepting; ends with the session. */
export async function interceptRequests(
  session: CDPSession,
  mainFrameId: string,
  { filter, main }: { readonly filter: RequestFilter; readonly main: MainDocument },
): Promise<void> {
  session.on('Fetch.requestPaused', (event) => {
    const { requestId, request, resourceType, frameId } = event;
    const isMain = frameId === mainFrameId && resourceType === 'Document';
    const fail = (errorReason: 'Aborted' | 'BlockedByClient'): void =>
      send(session.send('Fetch.failRequest', { requestId, errorReason }));
    const goOn = (): void => send(session.send('Fetch.continueRequest', { requestId }));
    const isAnswer = event.responseStatusCode !== undefined || event.responseErrorReason;

    if (!isMain) {
      if (!isAnswer && filter(resourceType, request.url)) fail('BlockedByClient');
      else goOn();
      return;
    }
    // Only navigations have a network id here; without one it is the download of a link.
    if (event.networkId === undefined) return fail('Aborted');
    const url = request.url + (request.urlFragment ?? '');
    const paused = { url, method: request.method, networkId: event.networkId };
    if (!isAnswer) {
      const verdict = main.onRequest(paused);
      if (verdict.action === 'abort') return fail('Aborted');
      const headers = [...Object.entries(request.headers), ...verdict.headers].map(
        ([name, value]) => ({ name, value }),
      );
      send(session.send('Fetch.continueRequest', { requestId, headers }));
    } else if (event.responseStatusCode === undefined) {
      goOn();
    } else {
      const headers = (event.responseHeaders ?? []).map(
        ({ name, value }) => [name, value] as const,
      );
      const verdict = main.onAnswer({ ...paused, status: event.responseStatusCode, headers });
      if (verdict.action === 'abort') fail('Aborted');
      else goOn();
    }
  });
  await session.send('Fetch.enable', {
    patterns: [
      { urlPattern: '*', requestStage: 'Request' },
      { urlPattern: '*', resourceType: 'Document', requestStage: 'Response' },
    ],
  });
}

/** A page that is closed no longer takes our word, and no longer needs it. */
function send(sent: Promise<unknown>): void {
  sent.catch(() => undefined);
}

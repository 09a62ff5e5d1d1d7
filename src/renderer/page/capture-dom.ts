// Takes the document out of a page: runs the capture script in a world of its own.
import type { CDPSession } from 'playwright-core';
import { RENDER_LIMITS } from '../limits.ts';
import { type CapturedDom, captureExpression } from './page-script.ts';

/** Captures the document of a frame as it is now. */
export async function captureDom(
  session: CDPSession,
  frameId: string,
  stripScripts: boolean,
): Promise<CapturedDom> {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId,
    worldName: 'capture',
  });
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: captureExpression({ stripScripts, htmlCharsMax: RENDER_LIMITS.htmlBytesMax }),
    contextId: executionContextId,
    returnByValue: true,
  });
  if (exceptionDetails !== undefined) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
  return result.value as CapturedDom;
}

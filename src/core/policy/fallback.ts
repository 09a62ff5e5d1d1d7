// The trouble table, spec: request-flow. What a client gets when neither the page nor an expired
// copy of it could be had; the pipeline only carries it out.
import type { RenderPolicy } from './policy.ts';

/** Who failed: the renderer, or the origin that the gateway would fall back to. */
export type Trouble = 'source_failed' | 'origin_failed';

/** `origin`: its answer, uncached. `error`: 502, 503 or 504 with `Proxy-Status`. */
export type Fallback = 'origin' | 'error';

export function chooseFallback(trouble: Trouble, onError: RenderPolicy['onError']): Fallback {
  // Asking the origin again for what it has just failed to give would only double its load.
  if (trouble === 'origin_failed') return 'error';
  return onError === '503' ? 'error' : 'origin';
}

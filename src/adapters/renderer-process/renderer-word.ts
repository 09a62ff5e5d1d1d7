// What a render service tells the gateway that has started it, over the pipe between them.
import { fieldsOf } from '../../core/records.ts';

export type RendererWord =
  /** It has rendered a page of its own. */
  | { readonly kind: 'ready' }
  /** It can't start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string };

const REASON_CHARS_MAX = 300;

/** @returns null for what is no word of ours: Node and libraries use the same pipe */
export function readRendererWord(message: unknown): RendererWord | null {
  const { kind, reason } = fieldsOf(message);
  if (kind === 'ready') return { kind };
  if (kind !== 'failed' || typeof reason !== 'string') return null;
  // A browser's last words are many lines, and the first says it.
  return { kind, reason: (reason.split('\n', 1)[0] ?? '').slice(0, REASON_CHARS_MAX) };
}

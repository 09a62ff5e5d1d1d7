// What processes tell each other over Redis, as JSON text and back. A text that is none of these
// is another version's and is ignored.

import { isLeaseResult, type LeaseResult } from '../../../core/lease-result.ts';
import { parseRecord } from '../../../core/records.ts';

export type ChannelMessage =
  /** An entry was put or deleted. */
  | { readonly kind: 'changed'; readonly by: string; readonly key: string }
  /** A purge was written to the log. */
  | { readonly kind: 'purged'; readonly by: string; readonly seq: number }
  /** To the writer of a purge: it has been heard of. */
  | { readonly kind: 'heard'; readonly by: string; readonly seq: number }
  /** A lease ended by its holder's word. */
  | { readonly kind: 'ended'; readonly token: string; readonly result: LeaseResult };

/** Encodes a message. */
export function encodeMessage(message: ChannelMessage): string {
  return JSON.stringify(message);
}

/** A purge's message up to its place, which only Redis knows; `PURGED_TAIL` follows it. */
export function purgedHead(by: string): string {
  return `{"kind":"purged","by":${JSON.stringify(by)},"seq":`;
}

export const PURGED_TAIL = '}';

/** Decodes a message; null: nothing of ours. */
export function decodeMessage(text: string): ChannelMessage | null {
  const { kind, by, key, seq, token, result } = parseRecord(text) ?? {};
  if (kind === 'ended') {
    return typeof token === 'string' && isLeaseResult(result) ? { kind, token, result } : null;
  }
  if (typeof by !== 'string') return null;
  if (kind === 'changed') return typeof key === 'string' ? { kind, by, key } : null;
  if (kind !== 'purged' && kind !== 'heard') return null;
  return typeof seq === 'number' && Number.isSafeInteger(seq) ? { kind, by, seq } : null;
}

// What a fill means for those who did not make it: whether they may have it, and whether it is a
// page at all.
import type { Entry } from '../ports.ts';
import type { FailedFill, FilledPage, NonPageReason } from '../state.ts';

const NON_PAGE: readonly NonPageReason[] = ['not_html', 'self_redirect'];

export function isNonPageReason(text: unknown): text is NonPageReason {
  return NON_PAGE.some((reason) => reason === text);
}

/** Not a page of its own: the origin answers everyone itself. */
export function nonPageReason({ unstored }: FilledPage): NonPageReason | null {
  return isNonPageReason(unstored) ? unstored : null;
}

/** Only what may be stored may be shared: everything else may be meant for one client. */
export function isShareable(fill: FilledPage): boolean {
  return fill.entry !== null || ['store_unavailable', 'purged'].includes(fill.unstored ?? '');
}

/** Neither half a page nor an error that is kept for a moment only. */
export function isWhole({ status, partial }: Pick<Entry, 'status' | 'partial'>): boolean {
  return status < 500 && partial !== true;
}

/** Whether those who waited can do with the leader's result. */
export function isForAll(fill: FilledPage | FailedFill): boolean {
  return fill.outcome === 'failed' || isShareable(fill) || nonPageReason(fill) !== null;
}

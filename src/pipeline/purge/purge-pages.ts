// Purge: pages taken out on request. Written to the log first, which makes it hold everywhere at
// once; then carried out in the store, and counted.
import type { PurgeOrder, PurgeSelector } from '../../core/purge/purge-record.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { LearnedRules } from '../ports.ts';
import type { PageStore } from '../store/page-store.ts';
import type { PurgeJournal } from './purge-journal.ts';
import {
  type PurgeRequest,
  type SelectContext,
  type SelectError,
  selectPages,
} from './purge-request.ts';

export interface PurgeReport {
  /** By which a soft purge is taken back; null for a dry run, and where nothing was ever stored. */
  readonly id: number | null;
  /** How many entries went, or would go. */
  readonly entries: number;
  /** How many of those it means are newer than it: requests were faster. */
  readonly newer: number;
  /** What was meant. For a purge that is taken back, what that one meant. */
  readonly selector: PurgeSelector;
  readonly soft: boolean;
  /** The purge that was taken back. */
  readonly undoes: number | null;
  readonly dryRun: boolean;
}

export type PurgeError =
  | SelectError
  /** Not one that could be taken back: unknown or long ago, not soft, or taken back already. */
  | { readonly kind: 'not_undoable'; readonly reason: 'unknown' | 'hard' | 'undone' }
  | { readonly kind: 'store_unavailable'; readonly reason: string }
  /** The purge holds, but not all it means has been deleted or marked. */
  | {
      readonly kind: 'unfinished';
      readonly id: number;
      readonly entries: number;
      readonly reason: string;
    };

export interface PurgeStores {
  readonly pages: Pick<PageStore, 'settlePurged' | 'countPurged'>;
  readonly journal: PurgeJournal;
  readonly learned: Pick<LearnedRules, 'refresh'>;
}

export interface PurgeContext extends SelectContext {
  /** null: nothing was ever stored. */
  readonly stores: PurgeStores | null;
}

/** Carries out one purge; answers how many entries went, and how many were newer already. */
export async function purgePages(
  request: PurgeRequest,
  context: PurgeContext,
): Promise<Result<PurgeReport, PurgeError>> {
  const { stores } = context;
  const known = stores === null ? null : await catchUp(stores);
  if (known?.state === 'unavailable') return err(storeUnavailable(known));
  const order = makeOrder(request, context);
  if (!order.ok) return order;
  const report = { ...order.value, dryRun: request.dryRun, id: null, entries: 0, newer: 0 };
  if (stores === null) return ok(report);
  const { journal, pages } = stores;
  if (request.dryRun) {
    const { entries, newer, failure } = await pages.countPurged(order.value);
    return failure === null
      ? ok({ ...report, entries, newer })
      : err({ kind: 'store_unavailable', reason: failure });
  }
  const written = await journal.append(order.value);
  if (written.state === 'unavailable') return err(storeUnavailable(written));
  const id = written.value.seq;
  const { entries, newer, failure } = await pages.settlePurged(written.value);
  return failure === null
    ? ok({ ...report, id, entries, newer })
    : err({ kind: 'unfinished', id, entries, reason: failure });
}

/** The key is the newest one, or a page would be served by a process that knows more than we do. */
async function catchUp({ journal, learned }: PurgeStores) {
  const known = await learned.refresh();
  return known.state === 'unavailable' ? known : await journal.catchUp();
}

function makeOrder(
  { target, soft }: PurgeRequest,
  context: PurgeContext,
): Result<PurgeOrder, PurgeError> {
  if (target.kind === 'undo') return makeUndo(target.id, context.stores?.journal ?? null);
  const selector = selectPages(target, context);
  return selector.ok ? ok({ selector: selector.value, soft, undoes: null }) : selector;
}

function makeUndo(id: number, journal: PurgeJournal | null): Result<PurgeOrder, PurgeError> {
  const undone = journal?.find(id) ?? null;
  if (undone === null) return err({ kind: 'not_undoable', reason: 'unknown' });
  if (!undone.soft || undone.undoes !== null) return err({ kind: 'not_undoable', reason: 'hard' });
  if (journal?.isUndone(id) === true) return err({ kind: 'not_undoable', reason: 'undone' });
  return ok({ selector: undone.selector, soft: true, undoes: id });
}

function storeUnavailable({ reason }: { readonly reason: string }): PurgeError {
  return { kind: 'store_unavailable', reason };
}

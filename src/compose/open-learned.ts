// What a command knows of the learned rules: what the gateway beside it knows, or nothing where
// nothing was stored or no host learns. Looking never creates a store.
import type { Config } from '../config/settings.ts';
import { isLearner } from '../core/learned/index-learners.ts';
import type { LearnedRules } from '../pipeline/ports.ts';
import { openStoresIfPresent } from './open-stores.ts';

export interface OpenedLearned {
  readonly rules: LearnedRules | null;
  readonly close: () => Promise<void>;
}

/** @param say gets one line for a person */
export async function openLearned(
  { policies, settings }: Config,
  say: (message: string) => void,
): Promise<OpenedLearned> {
  const isNeeded = policies.hosts.some(isLearner);
  const stores = isNeeded ? await openStoresIfPresent(settings, say) : null;
  return { rules: stores?.learned ?? null, close: async () => await stores?.close() };
}

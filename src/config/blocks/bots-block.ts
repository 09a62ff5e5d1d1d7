// `bots` of one level: how clients that call themselves crawlers are treated.
import type { BotPolicy } from '../../core/policy/policy.ts';
import { type ConfigNode, reportError } from '../config-node.ts';
import { type FieldTable, readDuration, readFields, readWord } from '../read-values.ts';

/** No chat waits that long for a card, and the client's connection is held. */
const PREVIEW_WAIT_MS_MAX = 30_000;

export const BOT_FIELDS: FieldTable<BotPolicy> = {
  verify: ['verify', readSwitch],
  forged: ['forged', readWord('bypass', 'block')],
  previewWaitMs: ['preview_wait', readPreviewWait],
};

export function readBotsBlock(node: ConfigNode | undefined): Partial<BotPolicy> {
  return readFields(node, BOT_FIELDS);
}

function readSwitch(node: ConfigNode): boolean | undefined {
  const word = readWord('on', 'off')(node);
  return word === undefined ? undefined : word === 'on';
}

function readPreviewWait(node: ConfigNode): number | undefined {
  const waitMs = readDuration(node);
  if (waitMs === undefined || waitMs <= PREVIEW_WAIT_MS_MAX) return waitMs;
  reportError(node, 'previews that wait for more than 30s', 'write for example 3s');
  return undefined;
}

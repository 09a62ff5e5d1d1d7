// `tracking_params` of one level: names → patterns. How levels add up is core's resolve-tracking.
import type { TrackingBlock } from '../../core/tracking/resolve-tracking.ts';
import { type Catalog, expandPresets } from '../catalog.ts';
import type { ConfigNode } from '../config-node.ts';
import { type FieldTable, readFields, readFlag, readPatterns } from '../read-values.ts';

export function readTrackingBlock(
  node: ConfigNode | undefined,
  catalog: Catalog,
): TrackingBlock | undefined {
  if (node === undefined) return undefined;
  const table: FieldTable<TrackingBlock> = {
    strip: ['strip', readFlag],
    params: ['params', readPatterns],
    paramsAdd: ['params_add', readPatterns],
    paramsRemove: ['params_remove', readPatterns],
    paramsKeep: ['params_keep', readPatterns],
    presets: ['presets', (list) => expandPresets(list, catalog)],
  };
  return readFields(node, table);
}

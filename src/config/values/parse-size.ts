// `512KiB`, `10GiB`, `64B`; a bare number is bytes, because every such key ends in `_bytes`.
import { err, ok, type Result } from '../../core/result.ts';
import type { Fault } from '../config-node.ts';

const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1_024,
  MiB: 1_024 ** 2,
  GiB: 1_024 ** 3,
  TiB: 1_024 ** 4,
};
const SIZE = /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB|TiB)$/;
const EXAMPLES = 'write bytes, or a number and a unit: 512KiB, 20MiB, 10GiB';

/** Parses a size into whole bytes. */
export function parseSize(value: unknown): Result<number, Fault> {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && value >= 0) return ok(value);
    return err({ message: 'not a size', hint: EXAMPLES });
  }
  if (typeof value !== 'string') return err({ message: 'not a size', hint: EXAMPLES });
  const text = value.trim();
  if (text === '0') return ok(0);
  const match = SIZE.exec(text);
  if (match === null) return err({ message: 'not a size', hint: EXAMPLES });
  const bytes = Math.round(Number(match[1]) * (UNIT_BYTES[match[2] ?? ''] ?? Number.NaN));
  if (Number.isSafeInteger(bytes)) return ok(bytes);
  return err({ message: 'a size beyond 8 PiB', hint: EXAMPLES });
}

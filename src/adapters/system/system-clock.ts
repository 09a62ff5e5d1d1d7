// Wall time, the only place that reads it for the pipeline.
import type { Clock } from '../../pipeline/ports.ts';

/** The Clock port on the machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() };

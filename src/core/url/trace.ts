// What `explain` shows: each step that changed something, in order. Serving passes no trace, so a
// request pays nothing for it.

export interface TraceStep {
  readonly step: string;
  readonly before: string;
  readonly after: string;
}

export type Trace = TraceStep[];

/** Adds a step, unless it changed nothing or nobody is listening. */
export function recordStep(trace: Trace | null, step: string, before: string, after: string): void {
  if (trace !== null && before !== after) trace.push({ step, before, after });
}

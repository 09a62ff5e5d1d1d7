// TypeBox reports every branch of a union that did not fit. Only the branch the user meant is worth
// a message: the one of the right type, or, when none is, the union as a whole.
import type { TLocalizedValidationError as ShapeError } from 'typebox/error';
import { isRecord } from '../core/records.ts';

/** Keeps one error a mistake. */
export function dropBranchErrors(errors: readonly ShapeError[]): readonly ShapeError[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf');
  const dropped = new Set<ShapeError>();
  for (const union of unions) {
    const branches = groupByBranch(union, errors);
    const meant = branches.find((branch) => !branch.some((error) => isWrongType(union, error)));
    if (meant !== undefined) dropped.add(union);
    for (const branch of branches) {
      if (branch !== meant) for (const error of branch) dropped.add(error);
    }
  }
  // `boolean` only repeats what additionalProperties names.
  return errors.filter((error) => !dropped.has(error) && error.keyword !== 'boolean');
}

function groupByBranch(union: ShapeError, errors: readonly ShapeError[]): readonly ShapeError[][] {
  const prefix = `${union.schemaPath}/anyOf/`;
  const branches = new Map<string, ShapeError[]>();
  for (const error of errors) {
    if (!error.schemaPath.startsWith(prefix) || !isAtOrBelow(error, union)) continue;
    const branch = error.schemaPath.slice(prefix.length).split('/')[0] ?? '';
    branches.set(branch, [...(branches.get(branch) ?? []), error]);
  }
  return [...branches.values()];
}

function isAtOrBelow(error: ShapeError, union: ShapeError): boolean {
  return (
    error.instancePath === union.instancePath ||
    error.instancePath.startsWith(`${union.instancePath}/`)
  );
}

function isWrongType(union: ShapeError, error: ShapeError): boolean {
  return (
    error.instancePath === union.instancePath && ['type', 'const', 'enum'].includes(error.keyword)
  );
}

/** The part of a schema an error came from. */
export function schemaAt(schema: unknown, schemaPath: string): unknown {
  let at = schema;
  for (const step of schemaPath.split('/').slice(1)) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isRecord(at) ? at[step] : undefined;
  }
  return at;
}

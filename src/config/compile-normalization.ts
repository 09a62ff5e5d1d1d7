// The same blocks as in the files, given as plain objects: for the library and the shared vectors,
// which must run through the very code that serves.
import type { NormalizationPolicy, PolicyLevel, StripPolicy } from '../core/policy/policy.ts';
import { err, ok, type Result } from '../core/result.ts';
import { readPolicyBlock } from './blocks/policy-block.ts';
import { rootOf } from './config-node.ts';
import { createProblems } from './diagnostic.ts';
import { readDefaults } from './load-defaults.ts';
import { mergeBlock } from './merge-policy.ts';
import type { ConfigDocument } from './parse-yaml.ts';
import { normalizationFileSchema } from './schema/files.ts';
import { compileShape } from './validate-shape.ts';

/** Up to three levels, each with the blocks `tracking_params` and `normalization`. */
export interface NormalizationLevels {
  readonly global?: unknown;
  readonly host?: unknown;
  readonly rule?: unknown;
}

export interface CompiledNormalization {
  readonly normalization: NormalizationPolicy;
  readonly tracking: StripPolicy;
}

const LEVELS = ['global', 'host', 'rule'] as const satisfies readonly PolicyLevel[];

const checkShape = compileShape(normalizationFileSchema, {});

/**
 * Compiles plain blocks over the built-in defaults.
 *
 * @returns the policies of the deepest level, or a sentence for each mistake
 */
export function compileNormalization(
  levels: NormalizationLevels,
): Result<CompiledNormalization, readonly string[]> {
  const { catalog, merged: start } = readDefaults();
  const problems = createProblems();
  let merged = start;
  for (const level of LEVELS) {
    const value = levels[level];
    if (value === undefined) continue;
    const document: ConfigDocument = {
      file: level,
      value,
      positions: new Map(),
      hidden: new Set(),
      problems,
    };
    checkShape(document);
    merged = mergeBlock(merged, readPolicyBlock(rootOf(document), catalog), level);
  }
  if (!problems.hasErrors()) {
    return ok({ normalization: merged.normalization, tracking: merged.tracking });
  }
  return err(problems.list().map(({ file, message }) => `${file}: ${message}`));
}

// Kinds of clients, and the names of well-known crawlers.
import Type, { type TSchema } from 'typebox';
import { count, mapOf, oneOf, patternList, section, text } from './common.ts';

const dimension = section(
  {
    id: count('Part of the cache key; 0 only for `bypass`.', 0, 65_535),
    action: oneOf(['render', 'bypass', 'block'], 'What its clients get.'),
    width: count('Viewport.', 1, 20_000),
    height: count('Viewport.', 1, 20_000),
    render_ua: text('User-Agent the page sees.'),
    match_ua: patternList('User-Agents that belong to it; $Alias allowed.'),
    locale: text('Locale of the browser, such as en-US.'),
  },
  'One kind of client.',
);

export const dimensionsSchema: TSchema = mapOf(dimension, 'Kinds of clients, by name.');

export const unmatchedSchema: TSchema = text('Who matched nothing: a dimension, bypass or block.');

/** Layer 0 only: bot-aliases.yaml and presets.yaml. */
export const aliasesSchema: TSchema = mapOf(
  Type.Array(Type.String(), { minItems: 1 }),
  'Names for lists of User-Agent patterns.',
);
export const presetsSchema: TSchema = mapOf(
  Type.Array(Type.String(), { minItems: 1 }),
  'Names for lists of tracking parameters.',
);

// Rules for a part of a host's URLs.
import Type, { type TObject } from 'typebox';
import { count, mapOf, oneOf, section, text, textList, textOrList } from './common.ts';
import { bypassRuleSchema, normalizationSchema, sharedBlocks } from './policy-blocks.ts';
import { renderRuleSchema } from './render.ts';

const status = section(
  {
    code: count('The status, 300 to 599.', 300, 599),
    reason: text('Appended to the body of a 4xx or 5xx answer.'),
    headers: mapOf(
      Type.String({ title: 'a text' }),
      'Headers of the answer; a 3xx needs Location.',
    ),
  },
  'An answer of the gateway’s own.',
);

export const urlRuleSchema: TObject = section(
  {
    id: text('Its name in headers and logs; rule_<place> when absent.'),
    match: textOrList('Path pattern, or several.'),
    match_query: mapOf(
      Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
        title: 'a text in quotes or a list of them',
      }),
      'Parameters that must be there, all of them; "*": present and not empty.',
    ),
    methods: textList('Only for these methods.'),
    action: oneOf(
      ['render', 'bypass', 'block', 'status_403', 'status_404', 'status_410', 'status'],
      'What happens; without it the rule only changes policy.',
    ),
    priority: count('Higher goes first.', -1_000_000, 1_000_000),
    dimension: text('With render: every client gets the page of this dimension.'),
    status,
    render: renderRuleSchema,
    bypass: bypassRuleSchema,
    normalization: normalizationSchema,
    ...sharedBlocks,
  },
  'One rule.',
  ['match'],
);

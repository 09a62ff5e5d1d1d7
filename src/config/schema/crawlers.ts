// config/bots/owners.yaml: known crawlers and how they are verified. Shipped data, not the user's.
import Type, { type TObject } from 'typebox';
import { CRAWLER_KINDS } from '../../core/bots/crawlers.ts';
import { mapOf, oneOf, section, text, textList } from './common.ts';

const list = section(
  {
    name: text('Name of its file.'),
    url: text('Where its owner publishes it.'),
    format: oneOf(['prefixes', 'lines'], 'JSON of prefixes, or a network a line.'),
  },
  'A published list of addresses.',
  ['name', 'url'],
);

const owner = section(
  {
    crawlers: section(
      Object.fromEntries(CRAWLER_KINDS.map((kind) => [kind, textList('Names.')])),
      'Names by what they read pages for.',
    ),
    host_names: textList('Reverse names of its addresses.'),
    lists: Type.Array(list),
    list_domains: textList('Where lists may be redirected to.'),
  },
  'Crawlers that share addresses.',
  ['crawlers'],
);

export const ownersFileSchema: TObject = section(
  {
    checked: text('Day of the last check.'),
    robots_only: textList('Names that no client sends.'),
    owners: mapOf(owner, 'Owners by name.'),
  },
  'config/bots/owners.yaml',
  ['checked', 'robots_only', 'owners'],
);

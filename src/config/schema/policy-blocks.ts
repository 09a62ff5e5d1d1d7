// The blocks that may stand at every level: bypass, headers, tracking parameters, normalization.
import Type, { type TObject, type TProperties } from 'typebox';
import {
  count,
  duration,
  flag,
  mapOf,
  oneOf,
  patternList,
  section,
  size,
  statusCodes,
  text,
  textList,
} from './common.ts';
import { cacheShardingSchema, clientIpSchema } from './reference-engine.ts';
import { expiredSchema } from './render.ts';

const bypass: TProperties = {
  timeout: duration('How long the origin may take.'),
  user_agent: text('User-Agent sent to the origin; the client’s own when absent.'),
  cache: section(
    {
      enabled: flag('Stores answers of the origin.'),
      ttl: duration('For answers that say nothing about freshness; 0: not stored.'),
      status_codes: statusCodes('For answers that say nothing about freshness.'),
      cookies: oneOf(['pass', 'ignore'], 'ignore: cookies do not make an answer private.'),
      expired: expiredSchema,
    },
    'Caching of what is not rendered.',
  ),
};

const bypassDescription = 'Requests that go to the origin as they are.';
export const bypassSchema: TObject = section(
  { ...bypass, ssrf_protection: flag('Key of the reference engine.') },
  bypassDescription,
);
export const bypassHostSchema: TObject = section(
  { ...bypass, enabled: flag('Key of the reference engine.') },
  bypassDescription,
);
export const bypassRuleSchema: TObject = section(bypass, bypassDescription);

const headersSchema: TObject = section(
  {
    safe_request: textList('Client headers that may reach the renderer; replaces.'),
    safe_request_add: textList('Appends to the inherited list.'),
    safe_response: textList('Headers of a page that are stored and sent; replaces.'),
    safe_response_add: textList('Appends to the inherited list.'),
  },
  'Headers that pass; never cookies or credentials.',
);

export const trackingSchema: TObject = section(
  {
    strip: flag('false switches stripping off from here down.'),
    params: patternList('The list is exactly this; discards what was inherited.'),
    params_add: patternList('Appends to the inherited list.'),
    params_remove: patternList('Takes listed patterns out of the inherited list.'),
    params_keep: patternList('Allow-list: every other parameter is dropped.'),
    presets: textList('Named lists that ship with the gateway.'),
  },
  'Query parameters that say where a visitor came from and not what the page is.',
);

const normalization: TProperties = {
  sort_query: flag('false keeps the order of what is left.'),
  empty_values: oneOf(
    ['bare', 'equals', 'preserve', 'drop'],
    'How `?key=` and `?key` are written.',
  ),
  plus: oneOf(['space', 'literal'], 'What `+` in a query means.'),
  encoding: oneOf(['canonical', 'preserve'], 'preserve: kept pairs keep their bytes.'),
  collapse_slashes: flag('Runs of `/` are one.'),
  trailing_slash: oneOf(['preserve', 'add', 'remove'], 'Of the path.'),
  default_documents: textList('Last segments that are removed, such as index.html.'),
  default_values: mapOf(
    Type.String({ title: 'a text in quotes' }),
    'Parameters dropped when they equal the default of the page.',
  ),
  lowercase_path: flag('For origins that ignore case.'),
  host_aliases: section(
    { www: oneOf(['keep', 'strip', 'add'], 'The host name in the key.') },
    'Names of one site.',
  ),
  signed_urls: oneOf(['bypass', 'ignore'], 'Signed URLs go to the origin as they are.'),
  signed_params: textList('More names of signature parameters.'),
  canonical_redirect: Type.Enum(['off', 301, 308], {
    description: 'Sends GET and HEAD to the canonical host, path and trailing slash.',
  }),
  locale_redirect: Type.Union(
    [
      Type.Literal('off'),
      section(
        {
          default: text('Its locale.'),
          locales: textList('First path segments that are locales.'),
        },
        'Locales.',
        ['default', 'locales'],
      ),
    ],
    { title: '"off" or a map of default and locales', description: 'Part of canonical_redirect.' },
  ),
  no_vary_search: oneOf(['off', 'learn', 'emit'], 'The No-Vary-Search header.'),
};

export const normalizationSchema: TObject = section(normalization, 'What makes two URLs one page.');
export const normalizationGlobalSchema: TObject = section(
  {
    ...normalization,
    max_url_bytes: size('Longest URL.'),
    max_params: count('Most query parameters.', 1, 100_000),
  },
  'What makes two URLs one page.',
);

const botsSchema: TObject = section(
  {
    verify: oneOf(['on', 'off'], 'Whether the addresses of crawlers are checked.'),
    forged: oneOf(['bypass', 'block'], 'What a forged crawler gets: a person’s page, or 403.'),
    preview_wait: duration('How long a link preview waits for a page that is not there yet.'),
  },
  'Clients that call themselves crawlers.',
);

const bothitSchema: TObject = section(
  {
    enabled: flag('A crawler’s hit schedules a refresh.'),
    interval: duration('Not more often than this.'),
    match_ua: patternList('Whose hits count; $Alias allowed.'),
  },
  'Refresh on a crawler’s hit.',
);

/** Blocks of global, host and rule alike; those that differ by level are added there. */
export const sharedBlocks: TProperties = {
  headers: headersSchema,
  tracking_params: trackingSchema,
  bots: botsSchema,
  bothit_recache: bothitSchema,
  downstream_cache: oneOf(['private', 'vary', 'origin'], 'What shared caches in front may do.'),
  on_render_error: Type.Enum(['stale_then_origin', '503', 503], {
    description: 'What a client gets when a page cannot be rendered.',
  }),
  cache_sharding: cacheShardingSchema,
};

export const hostOnlyShared: TProperties = { client_ip: clientIpSchema };

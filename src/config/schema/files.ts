// The files as a whole: edge-gateway.yaml, a hosts file, and the built-in files of layer 0.
import Type, { type TObject } from 'typebox';
import { count, flag, oneOf, section, text, textOrList } from './common.ts';
import { aliasesSchema, dimensionsSchema, presetsSchema, unmatchedSchema } from './dimensions.ts';
import {
  bypassHostSchema,
  bypassSchema,
  hostOnlyShared,
  normalizationGlobalSchema,
  normalizationSchema,
  sharedBlocks,
  trackingSchema,
} from './policy-blocks.ts';
import { logSchema, metricsSchema, referenceGlobalKeys } from './reference-engine.ts';
import { renderPolicySchema, renderSchema } from './render.ts';
import { adminSchema, integrationSchema, serverSchema } from './server.ts';
import { hostsIncludeSchema, memorySchema, redisSchema, storageSchema } from './storage.ts';
import { urlRuleSchema } from './url-rules.ts';

const globalKeys = {
  server: serverSchema,
  integration: integrationSchema,
  admin: adminSchema,
  redis: redisSchema,
  storage: storageSchema,
  memory: memorySchema,
  render: renderSchema,
  bypass: bypassSchema,
  dimensions: dimensionsSchema,
  unmatched_dimension: unmatchedSchema,
  normalization: normalizationGlobalSchema,
  diagnostics: oneOf(['headers', 'off'], 'X-headers that say how an answer came about.'),
  log: logSchema,
  metrics: metricsSchema,
  hosts: hostsIncludeSchema,
  ...sharedBlocks,
  ...referenceGlobalKeys,
};

export const gatewayFileSchema: TObject = section(globalKeys, 'edge-gateway.yaml');

const hostSchema: TObject = section(
  {
    id: count('Part of the cache key; unique, and never changed.', 1),
    domain: textOrList('Names the host answers for; *.example.com allowed.'),
    origin: textOrList('scheme://host:port of the site, or several.'),
    origin_host_header: text('Host header sent to the origin; the client’s when absent.'),
    scheme: oneOf(['http', 'https'], 'What the public URL has.'),
    render_key: text('X-Render-Key and X-Prerender-Token of the pull endpoints.'),
    enabled: flag('false: the host is refused.'),
    dimensions: dimensionsSchema,
    unmatched_dimension: unmatchedSchema,
    render: renderPolicySchema,
    bypass: bypassHostSchema,
    normalization: normalizationSchema,
    ...sharedBlocks,
    ...hostOnlyShared,
    url_rules: Type.Array(urlRuleSchema, { title: 'a list of rules', description: 'Rules.' }),
  },
  'One host.',
  ['id', 'domain'],
);

export const hostsFileSchema: TObject = section(
  { hosts: Type.Array(hostSchema, { title: 'a list of hosts', description: 'The hosts.' }) },
  'A hosts file.',
  ['hosts'],
);

/** Layer 0 is written in the same keys, and two of its own. */
export const defaultsFileSchema: TObject = section(
  { ...globalKeys, bot_aliases: aliasesSchema, presets: presetsSchema },
  'A file of config/defaults.',
);

/** What the library and the shared vectors give for one level. */
export const normalizationFileSchema: TObject = section(
  { tracking_params: trackingSchema, normalization: normalizationSchema },
  'Normalization of one level.',
);

// Keys of the reference engine that have no use here. They are accepted, so that its users' files
// load, and src/config/inactive-keys.ts says for each what replaces it.
import Type, { type TObject, type TProperties } from 'typebox';
import { count, flag, listenAddress, oneOf, section, text, textList } from './common.ts';

const NOTE = 'Key of the reference engine.';

export const cacheShardingSchema: TObject = section(
  {
    enabled: flag(NOTE),
    replication_factor: count(NOTE),
    distribution_strategy: oneOf(['hash_modulo', 'random', 'primary_only'], NOTE),
    push_on_render: flag(NOTE),
    replicate_on_pull: flag(NOTE),
  },
  NOTE,
);

export const clientIpSchema: TObject = section({ headers: textList(NOTE) }, NOTE);

const rotation = section(
  { max_size: count(NOTE), max_age: count(NOTE), max_backups: count(NOTE), compress: flag(NOTE) },
  NOTE,
);

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent', 'dpanic', 'panic', 'fatal'];

export const logSchema: TObject = section(
  {
    level: oneOf(LOG_LEVELS, 'Least important level that is written.'),
    console: section(
      {
        enabled: flag(NOTE),
        format: oneOf(['json', 'console'], NOTE),
        level: oneOf(LOG_LEVELS, NOTE),
      },
      NOTE,
    ),
    file: section(
      {
        enabled: flag(NOTE),
        path: text(NOTE),
        format: oneOf(['json', 'text'], NOTE),
        level: oneOf(LOG_LEVELS, NOTE),
        rotation,
      },
      NOTE,
    ),
  },
  'The log: one JSON line a request, on standard output.',
);

export const metricsSchema: TObject = section(
  {
    enabled: flag(NOTE),
    listen: listenAddress(NOTE),
    path: text(NOTE),
    namespace: Type.String({ description: NOTE, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  },
  'Metrics; here they are at /metrics of the admin listener.',
);

/** Top-level keys of its global file. */
export const referenceGlobalKeys: TProperties = {
  eg_id: text(NOTE),
  internal: section({ listen: listenAddress(NOTE), auth_key: text(NOTE) }, NOTE),
  registry: section({ selection_strategy: oneOf(['least_loaded', 'most_available'], NOTE) }, NOTE),
  client_ip: clientIpSchema,
  event_logging: section(
    {
      file: section(
        { enabled: flag(NOTE), path: text(NOTE), template: text(NOTE), rotation },
        NOTE,
      ),
    },
    NOTE,
  ),
};

// Where metadata and bodies are kept.
import Type, { type TObject } from 'typebox';
import { count, duration, flag, oneOf, section, size, text, textList } from './common.ts';

export const redisSchema: TObject = section(
  {
    url: text('redis:// or rediss:// with user, password and database.'),
    addr: text('host:port, instead of a URL.'),
    user: text('ACL user, where it is not in the URL.'),
    password: text('Where it is not in the URL.'),
    db: count('With addr or sentinels: the database number.', 0, 65_535),
    tls: flag('With addr, sentinels or cluster: connects by TLS.'),
    sentinels: textList('host:port of each sentinel.'),
    name: text('With sentinels: the name of the master.'),
    cluster: textList('host:port of some cluster nodes.'),
  },
  'Metadata in Redis; without this block the embedded store is used.',
);

export const storageSchema: TObject = section(
  {
    base_path: text('Folder of the body files and the embedded store; relative to this file.'),
    bodies: oneOf(['filesystem', 'redis'], 'Where bodies are kept.'),
    max_bytes: size('Quota; least recently used pages go first.'),
    compression: oneOf(['none', 'snappy', 'lz4'], 'Key of the reference engine.'),
    cleanup: section(
      {
        enabled: flag('On by default.'),
        interval: duration('How often expired files and orphans are swept.'),
        safety_margin: duration('Key of the reference engine.'),
      },
      'Sweeping.',
    ),
  },
  'Files and quotas.',
);

export const memorySchema: TObject = section(
  { max_bytes: size('Hot pages kept in each worker.') },
  'Pages in memory.',
);

export const hostsIncludeSchema: TObject = section(
  {
    include: Type.String({
      title: 'a path',
      description: 'A file, a folder (*.yaml and *.yml in it) or a glob; relative to this file.',
      minLength: 1,
    }),
  },
  'The files that hold the hosts.',
);

// Where the process listens and what one connection may cost.
import type { TObject } from 'typebox';
import Type from 'typebox';
import { count, duration, flag, listenAddress, section, size, text, textList } from './common.ts';

const limits = section(
  {
    header_fields: count('Most header fields of one request.', 1, 2_000),
    header_bytes: size('Most bytes of request line and header together.'),
    body_bytes: size('Largest request body; 0 is unlimited, bodies are streamed.'),
    connections: count('Most client connections at once.', 1),
    page_bytes: size('Largest page that is stored or rendered.'),
    waiters_per_key: count('Most requests that wait for one page at once.', 1),
    headers_timeout: duration('How long a client may take for its header.'),
    body_timeout: duration(
      'How long a client may stall: an upload, or an answer that it does not read.',
    ),
    idle_timeout: duration('How long an idle connection stays open.'),
  },
  'Bounds on what clients can cost.',
);

const tls = section(
  {
    enabled: flag('Opens the HTTPS listener.'),
    listen: listenAddress('Its address.'),
    cert_file: text('Certificate chain, PEM; relative to this file.'),
    key_file: text('Private key, PEM; relative to this file.'),
  },
  'HTTPS; certificates are read again on every reload.',
);

export const serverSchema: TObject = section(
  {
    listen: listenAddress('The inline reverse proxy.'),
    tls,
    workers: Type.Union([Type.Literal('auto'), count('', 1, 1_024)], {
      title: '"auto" or a whole number',
      description: 'Gateway processes; auto: one a core.',
    }),
    timeout: duration(
      'How long a request may take until its answer begins; the other timeouts must fit inside.',
    ),
    trusted_proxies: textList('Networks whose X-Forwarded-For and -Proto are believed.'),
    limits,
    watch_config: flag('Reload when a file of the configuration changes.'),
  },
  'The public listeners.',
);

export const integrationSchema: TObject = section(
  {
    enabled: flag('Opens the pull endpoints.'),
    listen: listenAddress('Their address; plain HTTP, so keep it on a private network.'),
  },
  'The pull endpoints for CDN workers and prerender middleware; each host needs a render_key.',
);

export const adminSchema: TObject = section(
  {
    listen: listenAddress('API, metrics and health.'),
    token: text('Bearer token; without one only loopback may be bound.'),
  },
  'The admin listener.',
);

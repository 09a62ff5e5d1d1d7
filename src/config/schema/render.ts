// How pages are rendered and how long they are kept. The policy part may stand at every level.
import Type, { type TObject, type TProperties } from 'typebox';
import {
  count,
  duration,
  flag,
  mapOf,
  oneOf,
  patternList,
  section,
  statusCodes,
  text,
  textList,
} from './common.ts';

export const RESOURCE_TYPES = [
  'Document',
  'Stylesheet',
  'Image',
  'Media',
  'Font',
  'Script',
  'TextTrack',
  'XHR',
  'Fetch',
  'Prefetch',
  'EventSource',
  'WebSocket',
  'Manifest',
  'SignedExchange',
  'Ping',
  'CSPViolationReport',
  'Preflight',
  'Other',
] as const;

export const expiredSchema: TObject = section(
  {
    strategy: oneOf(['serve_stale', 'delete'], 'What happens to a page when its ttl is over.'),
    stale_ttl: duration('How long a stale page may still be served.'),
  },
  'After the ttl.',
);

const cache = section(
  {
    ttl: duration('How long a page is fresh; 0: it is not stored.'),
    ttl_by_status: mapOf(duration(''), 'Own ttl of a status (404) or class (4xx).'),
    status_codes: statusCodes('Statuses that are stored.'),
    jitter: Type.Number({
      title: 'a number from 0 to 0.5',
      description:
        'Fraction by which a ttl may differ, so that a warmed site does not expire at once.',
      minimum: 0,
      maximum: 0.5,
    }),
    expired: expiredSchema,
  },
  'How long rendered pages are kept.',
);

const events = section(
  {
    wait_for: oneOf(
      ['DOMContentLoaded', 'load', 'networkIdle', 'networkAlmostIdle'],
      'When a page counts as ready.',
    ),
    additional_wait: duration('Extra wait after the event.'),
    long_poll_after: duration(
      'When a long poll no longer keeps a page from being ready; half of soft_timeout at most.',
    ),
    selector: text('CSS selector that must be on the page as well.'),
  },
  'When a page is ready; window.prerenderReady is honoured in any case.',
);

const policy: TProperties = {
  timeout: duration('Hard limit of one render.'),
  soft_timeout: duration('When a page that is not ready is captured as partial.'),
  events,
  blocked_resource_types: Type.Array(Type.Enum([...RESOURCE_TYPES]), {
    title: 'a list of resource types',
    description: 'Kinds of sub-requests that are not made.',
  }),
  blocked_patterns: patternList('URLs of sub-requests that are not made.'),
  strip_scripts: flag('Removes executable scripts; JSON-LD and templates stay.'),
  cache,
};

const service = section(
  {
    urls: textList('Base URLs of the render services.'),
    token: text('What they ask for: a bearer token, X-Prerender-Token or ?token=.'),
    protocol: oneOf(
      ['edge-gateway', 'prerender', 'rendertron', 'browserless'],
      'The wire contract they speak.',
    ),
  },
  'A pool of render services.',
);

const chromium = section(
  {
    executable_path: text('The browser; found by itself when absent.'),
    tabs: count('Pages rendered at once.', 1, 256),
    queue: count('Renders that may wait.', 0, 100_000),
  },
  'The local browser.',
);

export const renderSchema: TObject = section(
  {
    engine: oneOf(['chromium', 'service', 'origin', 'off'], 'What renders.'),
    service,
    chromium,
    refresh_share: Type.Number({
      title: 'a number from 0 to 1',
      description: 'Part of what is rendered at once that refreshes may take; one at least.',
      minimum: 0,
      maximum: 1,
    }),
    ...policy,
  },
  'Rendering, for all hosts.',
);

export const renderPolicySchema: TObject = section(policy, 'Rendering.');

export const renderRuleSchema: TObject = section(
  {
    dimension: text('Key of the reference engine; the same as the rule’s own `dimension`.'),
    ...policy,
  },
  'Rendering.',
);

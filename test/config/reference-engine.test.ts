// Files in the shape of the reference engine load without an error, and every key that does nothing
// here is answered by a warning that says what to do instead.
import { expect, test } from 'vitest';
import { loadFiles } from './helpers.ts';

const SAMPLE_GATEWAY = `
eg_id: eg-1
server:
  listen: ":10070"
  timeout: 120s
  tls: { enabled: false, listen: ":10443", cert_file: a.pem, key_file: a.key }
internal: { listen: "127.0.0.1:10071", auth_key: 0123456789abcdef }
redis: { addr: "localhost:6379", password: "", db: 0 }
storage:
  base_path: cache/
  compression: snappy
  cleanup: { enabled: true, interval: 1h, safety_margin: 2h }
hosts: { include: hosts.yaml }
render:
  cache:
    ttl: 1h
    status_codes: [200, 301, 302, 307, 308, 404]
    expired: { strategy: serve_stale, stale_ttl: 30d }
  events: { wait_for: networkIdle, additional_wait: 1s }
  blocked_resource_types: [Image, Media, Font]
  blocked_patterns: ["*google-analytics.com*", "~*hotjar"]
  strip_scripts: true
bypass:
  timeout: 30s
  user_agent: Mozilla/5.0 (compatible; EdgeGateway)
  ssrf_protection: true
  cache: { enabled: false, ttl: 30m, status_codes: [200] }
registry: { selection_strategy: least_loaded }
log:
  level: info
  console: { enabled: true, format: console }
  file: { enabled: false, path: log/eg.log, format: text, rotation: { max_size: 100, max_age: 30, max_backups: 10, compress: true } }
metrics: { enabled: true, listen: ":10079", path: /metrics, namespace: edgecomet }
`;

const SAMPLE_HOSTS = `
hosts:
  - id: 1
    domain: example.com
    render_key: key-1
    enabled: true
    render:
      timeout: 30s
    dimensions:
      desktop: { id: 1, width: 1920, height: 1080, render_ua: "Mozilla/5.0 Desktop", match_ua: [$GooglebotSearchDesktop, $BingbotDesktop, "*facebookexternalhit*"] }
      mobile: { id: 2, width: 375, height: 812, render_ua: "Mozilla/5.0 Mobile", match_ua: [$GooglebotSearchMobile, $BingbotMobile, "~*iphone.*bot"] }
      blocked: { id: 3, action: block, match_ua: [$AIBots] }
    unmatched_dimension: bypass
    url_rules:
      - match: ["/admin/*", "/api/*"]
        action: status_403
      - match: "/blog/*"
        action: render
        render: { cache: { ttl: 1d }, dimension: mobile }
      - match: "~^/p/[0-9]+$"
        match_query: { q: "*", sort: [asc, desc] }
        action: bypass
        bypass: { cache: { enabled: true, ttl: 10m } }
      - match: /old
        action: status
        status: { code: 301, headers: { Location: /new } }
      - match: /gone
        action: status_410
        status: { reason: moved away }
`;

interface Sample {
  readonly name: string;
  readonly gateway: string;
  readonly hosts: string;
  /** `key: part of the hint` of each warning that must be there. */
  readonly warnings: readonly (readonly [string, string | null])[];
}

const HOST =
  'hosts: [{ id: 1, domain: a.example, render_key: k, enabled: true, render: { timeout: 30s } }]\n';
const LEAST =
  'server: { listen: ":10070", timeout: 120s }\ninternal: { listen: ":10071", auth_key: secret }\nredis: { addr: "127.0.0.1:6379" }\nstorage: { base_path: cache }\nhosts: { include: hosts.yaml }\n';

const SAMPLES: readonly Sample[] = [
  {
    name: 'the shipped sample',
    gateway: SAMPLE_GATEWAY,
    hosts: SAMPLE_HOSTS,
    warnings: [
      ['eg_id', 'share Redis'],
      ['internal', 'admin.listen'],
      ['storage.compression', 'br and gzip'],
      ['storage.cleanup.safety_margin', null],
      ['bypass.ssrf_protection', 'configured origin'],
      ['registry', 'render.service.urls'],
      ['log.console', 'standard output'],
      ['log.file', 'standard output'],
      ['metrics', '/metrics of admin.listen'],
    ],
  },
  {
    name: 'only what it requires',
    gateway: LEAST,
    hosts: HOST,
    warnings: [['internal', 'admin.listen']],
  },
  {
    name: 'sharding on every level',
    gateway: `eg_id: a\n${LEAST}cache_sharding: { enabled: true, replication_factor: 2, distribution_strategy: hash_modulo, push_on_render: true, replicate_on_pull: true }\n`,
    hosts: `${HOST.trimEnd().slice(0, -2)}, cache_sharding: { push_on_render: false }, url_rules: [{ match: /a, cache_sharding: { replication_factor: 1 } }] }]\n`,
    warnings: [['cache_sharding', 'redis.url']],
  },
  {
    name: 'recaching on hits, client addresses and events',
    gateway: `${LEAST}bothit_recache: { enabled: true, interval: 24h, match_ua: [$SearchBots, "*custom*"] }\nclient_ip: { headers: [X-Real-IP, X-Forwarded-For] }\nevent_logging: { file: { enabled: true, path: log/events.log, template: "{url}", rotation: { max_size: 1 } } }\n`,
    hosts: `${HOST.trimEnd().slice(0, -2)}, client_ip: { headers: [CF-Connecting-IP] }, bothit_recache: { enabled: false } }]\n`,
    warnings: [
      ['client_ip', 'server.trusted_proxies'],
      ['event_logging', 'standard output'],
    ],
  },
  {
    name: 'headers and tracking parameters on every level',
    gateway: `${LEAST}headers: { safe_request: [Accept-Language], safe_response: [Content-Type, Location] }\ntracking_params: { strip: true, params: ["utm_*", gclid, "~*^fb"] }\nunmatched_dimension: block\ndimensions: { d: { id: 1, width: 1, height: 1, render_ua: "", match_ua: [$SearchBots] } }\n`,
    hosts: `${HOST.trimEnd().slice(0, -2)}, bypass: { enabled: true, timeout: 10s }, headers: { safe_response_add: [X-A] }, tracking_params: { params_add: [a] }, url_rules: [{ match: "*", action: render, tracking_params: { strip: false }, headers: { safe_request_add: [X-B] } }] }]\n`,
    warnings: [['bypass.enabled', 'unmatched_dimension']],
  },
  {
    name: 'fractions, bare ports, empty sections and its log levels',
    gateway:
      'server: { listen: 10070, timeout: 1.5m }\nredis: { addr: "127.0.0.1:6379" }\nstorage: { base_path: cache }\nrender: { cache: { ttl: 1.5w } }\nlog: { level: panic }\nbypass:\n',
    hosts:
      'hosts:\n  - id: 1\n    domain: [a.example, b.example]\n    render_key: k\n    render: { timeout: 5s }\n    url_rules:\n',
    warnings: [
      ['log level', 'error'],
      ['"bypass" has no value', 'remove the key'],
      ['"url_rules" has no value', 'remove the key'],
    ],
  },
];

test.each(SAMPLES)('$name', async ({ gateway, hosts, warnings }) => {
  const loaded = await loadFiles({ 'edge-gateway.yaml': gateway, 'hosts.yaml': hosts });
  expect(loaded.errors).toEqual([]);
  expect(loaded.config).not.toBeNull();
  for (const [key, hint] of warnings) {
    const matching = loaded.warnings.filter(({ message }) =>
      message.includes(key.includes(' ') ? key : `\`${key}\``),
    );
    expect([key, matching.length]).toEqual([key, 1]);
    if (hint !== null) expect(matching[0]?.hint).toContain(hint);
  }
});

test('a key written in many places is warned about once, at its first place', async () => {
  const hosts = `hosts:\n${[1, 2, 3]
    .map((id) => `  - { id: ${id}, domain: h${id}.example, cache_sharding: { enabled: true } }\n`)
    .join('')}`;
  const { warnings } = await loadFiles({ 'hosts.yaml': hosts });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ file: 'hosts.yaml', line: 2, column: 34 });
  expect(warnings[0]?.message).toContain('and at 2 more places');
});

// Broken edge-gateway.yaml files. The mark ‸ stands exactly where the error must be reported and
// is taken out before loading.

export interface BrokenCase {
  readonly name: string;
  readonly text: string;
  /** Part of the message. */
  readonly message: string;
  /** Part of the hint. */
  readonly hint?: string;
}

const ORIGIN = 'render: { engine: origin }\n';

export const BROKEN_GATEWAY: readonly BrokenCase[] = [
  { name: 'an empty file', text: '‸', message: 'the file is empty' },
  { name: 'only comments', text: '‸# nothing\n', message: 'the file is empty' },
  { name: 'a list', text: '‸- server\n', message: 'the file must be a map of keys' },
  { name: 'tab indentation', text: 'server:\n‸\tlisten: ":80"\n', message: 'tab', hint: 'spaces' },
  { name: 'NUL', text: 'server:\n  listen: ":80‸\0"\n', message: 'NUL' },
  { name: 'two documents', text: '---\nlog: {}\n‸---\nlog: {}\n', message: 'more than one' },
  {
    name: 'a duplicate key',
    text: 'log: { level: info }\nserver: {}\n‸log: { level: warn }\n',
    message: 'duplicate key "log"',
    hint: 'line 1',
  },
  {
    name: 'an anchor',
    text: 'log: ‸&x { level: info }\n',
    message: 'anchors are not used',
    hint: 'global level',
  },
  {
    name: 'an unquoted leading star',
    text: 'tracking_params:\n  params:\n    - ‸*utm\n',
    message: 'aliases are not used',
    hint: '"*utm"',
  },
  { name: 'a tag', text: 'log: { level: ‸!!str info }\n', message: 'tags are not used' },
  { name: 'a merge key', text: `${ORIGIN}‸<<: { a: 1 }\n`, message: 'unknown key "<<"' },
  { name: 'a map as key', text: '? ‸{ a: 1 }\n: b\n', message: 'a key must be plain text' },
  { name: 'bad indentation', text: 'server:\n  timeout: 5s\n ‸listen: ":80"\n', message: 'YAML' },
  {
    name: 'a misspelt section',
    text: '‸tracking_parms: { strip: false }\n',
    message: 'unknown key "tracking_parms"',
    hint: 'did you mean "tracking_params"?',
  },
  {
    name: 'a misspelt key deep inside',
    text: 'render:\n  engine: origin\n  cache:\n    expired:\n      ‸stale_tll: 1h\n',
    message: 'unknown key "stale_tll"',
    hint: 'did you mean "stale_ttl"?',
  },
  {
    name: 'a key of another level',
    text: `${ORIGIN}‸ttl: 5m\n`,
    message: 'unknown key "ttl"',
    hint: 'belongs to render.cache.ttl',
  },
  {
    name: 'a key of the other file',
    text: `${ORIGIN}‸url_rules: []\n`,
    message: 'unknown key "url_rules"',
    hint: 'hosts[].url_rules in the hosts file',
  },
  { name: '__proto__', text: `${ORIGIN}‸__proto__: { polluted: 1 }\n`, message: '"__proto__"' },
  { name: 'constructor', text: `${ORIGIN}‸constructor: {}\n`, message: '"constructor"' },
  {
    name: 'a wrong word',
    text: 'render: { engine: ‸chromum }\n',
    message: 'must be one of chromium, service, origin, off, not "chromum"',
    hint: 'did you mean "chromium"?',
  },
  {
    name: 'a duration without a unit',
    text: 'server:\n  timeout: ‸120\n',
    message: '"timeout" must be a duration',
    hint: '"120s"',
  },
  {
    name: 'a duration with a blank',
    text: 'server: { timeout: ‸30 s }\n',
    message: 'not a duration',
    hint: 'write "30s"',
  },
  { name: 'an upper-case unit', text: 'server: { timeout: ‸30S }\n', message: 'not a duration' },
  { name: 'a negative duration', text: 'server: { timeout: ‸-5m }\n', message: 'never negative' },
  { name: 'an endless duration', text: 'server: { timeout: ‸.inf }\n', message: 'a duration' },
  { name: 'a timeout of nothing', text: 'server: { timeout: ‸0s }\n', message: 'more than 0' },
  { name: 'a bad size', text: 'storage: { max_bytes: ‸true }\n', message: 'a size such as' },
  {
    name: 'a size of powers of ten',
    text: 'server: { limits: { page_bytes: ‸20MB } }\n',
    message: 'not a size',
    hint: '20MiB',
  },
  {
    name: 'a port too high',
    text: 'server: { listen: ‸":99999" }\n',
    message: '99999',
  },
  {
    name: 'a bad listen address',
    text: 'server: { listen: ‸"http://x:80" }\n',
    message: 'address',
  },
  {
    name: 'two listeners on one port',
    text: 'server: { listen: ":8080" }\nadmin: { listen: ‸127.0.0.1:8080 }\n',
    message: 'port 8080 is also used by server.listen at edge-gateway.yaml:1:19',
  },
  {
    name: 'a listener on the default port of another',
    text: 'server: { listen: ‸":9090" }\n',
    message: 'is also used by admin.listen at config/defaults/settings.yaml',
  },
  {
    name: 'an open admin listener without a token',
    text: 'admin: { listen: ‸":9090" }\n',
    message: 'without `admin.token`',
  },
  {
    name: 'a bad proxy network',
    text: 'server: { trusted_proxies: [‸10.0.0.0/33] }\n',
    message: '32',
  },
  {
    name: 'a name as proxy',
    text: 'server: { trusted_proxies: [‸lb.internal] }\n',
    message: 'network',
  },
  {
    name: 'tls without files',
    text: 'server:\n  tls: ‸{ enabled: true, listen: ":8443" }\n',
    message: 'cert_file',
  },
  {
    name: 'a certificate that is not there',
    text: 'server: { tls: { enabled: true, listen: ":8443", cert_file: ‸no.pem, key_file: hosts.yaml } }\n',
    message: 'server.tls.cert_file: no such file',
  },
  {
    name: 'pull endpoints without an address',
    text: 'integration: ‸{ enabled: true }\n',
    message: '`integration.enabled` needs `integration.listen`',
  },
  {
    name: 'pull endpoints on the port of the admin listener',
    text: 'integration: { enabled: true, listen: ‸":9090" }\n',
    message: 'is also used by admin.listen',
  },
  {
    name: 'a protocol nobody speaks',
    text: 'render: { engine: service, service: { urls: ["http://r:1"], protocol: ‸soap } }\n',
    message: 'must be one of edge-gateway, prerender, rendertron, browserless, not "soap"',
  },
  {
    name: 'a service without urls',
    text: 'render: { engine: ‸service }\n',
    message: 'needs `render.service.urls`',
  },
  {
    name: 'timeouts that do not nest',
    text: 'server: { timeout: 20s }\nbypass: { timeout: 5s }\nrender: { timeout: ‸30s }\n',
    message: 'render.timeout (30s) must not be longer than server.timeout (20s)',
  },
  {
    name: 'a server timeout below the defaults',
    text: 'server: { timeout: ‸10s }\nbypass: { timeout: 5s }\n',
    message: 'render.timeout (30s) must not be longer',
  },
  {
    name: 'a soft timeout that is not softer',
    text: 'render: { timeout: 10s, soft_timeout: ‸10s }\n',
    message: 'must be shorter than render.timeout (10s)',
  },
  {
    name: 'a bypass timeout that does not nest',
    text: 'bypass: { timeout: ‸3m }\n',
    message: 'bypass.timeout (3m) must not be longer',
  },
  {
    name: 'jitter above a half',
    text: 'render: { cache: { jitter: ‸0.6 } }\n',
    message: 'at most 0.5',
  },
  {
    name: 'a status code',
    text: 'render: { cache: { status_codes: [200, ‸600] } }\n',
    message: '599',
  },
  {
    name: 'a class of statuses',
    text: 'render: { cache: { ttl_by_status: { 9xx: ‸1h } } }\n',
    message: '"9xx"',
  },
  {
    name: 'a bad regular expression',
    text: 'tracking_params: { params: ["utm_*", ‸"~("] }\n',
    message: 'bad regular expression "("',
    hint: 'RE2',
  },
  {
    name: 'an empty pattern',
    text: 'tracking_params: { params_add: [‸""] }\n',
    message: 'empty pattern',
  },
  { name: 'a bare ~', text: 'tracking_params: { params: [‸"~"] }\n', message: 'no expression' },
  {
    name: 'an unknown preset',
    text: 'tracking_params: { presets: [‸emial] }\n',
    message: 'unknown preset "emial"',
    hint: 'did you mean "email"?',
  },
  {
    name: 'an unknown alias',
    text: 'dimensions: { d: { id: 1, match_ua: [‸$SearchCrawler] } }\n',
    message: 'unknown alias "SearchCrawler"',
    hint: 'did you mean "SearchCrawlers"?',
  },
  {
    name: 'one dimension id twice',
    text: 'dimensions:\n  a: { id: 1 }\n  b: { id: ‸1 }\n',
    message: 'dimension id 1 is taken at edge-gateway.yaml:2:12',
  },
  {
    name: 'id 0 for another dimension',
    text: 'dimensions: { a: { id: ‸0 } }\n',
    message: 'id 0 belongs',
  },
  {
    name: 'a dimension without id',
    text: 'dimensions: { a: ‸{ width: 5 } }\n',
    message: 'has no id',
  },
  {
    name: 'an unknown unmatched dimension',
    text: 'unmatched_dimension: ‸dekstop\n',
    message: 'unknown dimension "dekstop"',
    hint: 'desktop',
  },
  {
    name: 'a cookie as safe header',
    text: 'headers: { safe_request: [‸Cookie] }\n',
    message: 'safe header',
  },
  {
    name: 'authorization as safe header',
    text: 'headers: { safe_request_add: [‸Authorization] }\n',
    message: 'safe',
  },
  {
    name: 'a hop-by-hop safe header',
    text: 'headers: { safe_response: [‸Keep-Alive] }\n',
    message: 'safe',
  },
  {
    name: 'no header name',
    text: 'headers: { safe_response: [‸"A B"] }\n',
    message: 'no header name',
  },
  { name: 'redis without a server', text: 'redis: ‸{ db: 1 }\n', message: 'names no server' },
  { name: 'redis by http', text: 'redis: { url: ‸"http://127.0.0.1" }\n', message: 'redis://' },
  {
    name: 'redis twice',
    text: 'redis: { url: redis://a, addr: ‸"b:6379" }\n',
    message: 'does not go with',
  },
  {
    name: 'a missing variable',
    text: 'admin: { token: ‸"${NOT_SET}" }\n',
    message: 'NOT_SET is not set',
  },
  { name: 'a bad reference', text: 'admin: { token: ‸"${1x}" }\n', message: 'bad reference' },
  {
    name: 'an unclosed reference',
    text: 'admin: { token: ‸"${ADMIN" }\n',
    message: 'bad reference',
  },
  {
    name: 'no hosts file',
    text: `${ORIGIN}hosts: { include: ‸nowhere.yaml }\n`,
    message: 'no such file',
  },
  {
    name: 'a glob without files',
    text: `${ORIGIN}hosts: { include: ‸"h.d/*.yaml" }\n`,
    message: 'h.d',
  },
  {
    name: 'a list where a text belongs',
    text: 'log: { level: ‸[info] }\n',
    message: 'must be one of',
  },
  {
    name: 'a text where a list belongs',
    text: 'tracking_params: { params: ‸utm_source }\n',
    message: '"params" must be a list of patterns, not a text',
    hint: 'as a list',
  },
  {
    name: 'a mistake inside of a union',
    text: 'normalization: { locale_redirect: { default: en, locales: [en], ‸local: en } }\n',
    message: 'unknown key "local"',
  },
  {
    name: 'a locale that is not listed',
    text: 'normalization: { locale_redirect: { default: ‸fr, locales: [en] } }\n',
    message: '"fr" is not among the locales',
  },
  {
    name: 'a redirect code',
    text: 'normalization: { canonical_redirect: ‸302 }\n',
    message: '301, 308',
  },
  {
    name: 'a default value that is a number',
    text: 'normalization: { default_values: { page: ‸1 } }\n',
    message: 'a text in quotes',
    hint: '"1"',
  },
];

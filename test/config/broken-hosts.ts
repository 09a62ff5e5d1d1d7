// Broken hosts files; the mark ‸ as in broken-gateway.ts.
import type { BrokenCase } from './broken-gateway.ts';

const HOST = 'hosts:\n  - id: 1\n    domain: example.com\n';
const rule = (text: string): string => `${HOST}    url_rules:\n      - ${text}\n`;

export const BROKEN_HOSTS: readonly BrokenCase[] = [
  { name: 'no hosts key', text: '‸{}\n', message: '"hosts" is missing' },
  { name: 'no id', text: 'hosts:\n  - ‸domain: example.com\n', message: '"id" is missing' },
  { name: 'no domain', text: 'hosts:\n  - ‸id: 1\n', message: '"domain" is missing' },
  { name: 'id 0', text: 'hosts:\n  - { id: ‸0, domain: a.example }\n', message: 'at least 1' },
  {
    name: 'an id as text',
    text: 'hosts:\n  - { id: ‸"1", domain: a.example }\n',
    message: 'a whole number',
  },
  {
    name: 'an id beyond precision',
    text: 'hosts: [{ id: ‸9007199254740993, domain: a.example }]\n',
    message: 'at most',
  },
  {
    name: 'one id twice',
    text: 'hosts:\n  - { id: 7, domain: a.example }\n  - { id: ‸7, domain: b.example }\n',
    message: 'host id 7 is taken at hosts.yaml:2:11',
  },
  {
    name: 'one domain twice, in another case and with a dot',
    text: 'hosts:\n  - { id: 1, domain: a.example }\n  - { id: 2, domain: ‸A.Example. }\n',
    message: 'domain "a.example" is taken at hosts.yaml:2:22',
  },
  {
    name: 'one domain twice at one host',
    text: 'hosts:\n  - { id: 1, domain: [a.example, ‸A.EXAMPLE] }\n',
    message: 'is listed twice',
  },
  {
    name: 'a www alias that is another host',
    text: 'hosts:\n  - id: 1\n    domain: ‸www.a.example\n    normalization: { host_aliases: { www: strip } }\n  - { id: 2, domain: a.example }\n',
    message: 'answer as "a.example", which is taken at hosts.yaml:5:22',
  },
  {
    name: 'a www alias that a rule makes',
    text: 'hosts:\n  - id: 1\n    domain: ‸a.example\n    url_rules: [{ match: /a, normalization: { host_aliases: { www: add } } }]\n  - { id: 2, domain: www.a.example }\n',
    message: 'answer as "www.a.example", which is taken at hosts.yaml:5:22',
  },
  {
    name: 'a www alias of a wildcard',
    text: 'hosts:\n  - id: 1\n    domain: [a.example, ‸"*.b.example"]\n    origin: http://127.0.0.1:1\n    normalization: { host_aliases: { www: add } }\n',
    message: 'can\'t be used with the wildcard "*.b.example"',
  },
  {
    name: 'a www alias of a wildcard that a rule makes',
    text: 'hosts:\n  - id: 1\n    domain: ‸"*.b.example"\n    origin: http://127.0.0.1:1\n    url_rules: [{ match: /a, normalization: { host_aliases: { www: strip } } }]\n',
    message: 'can\'t be used with the wildcard "*.b.example"',
  },
  {
    name: 'a locale that no path can have',
    text: `${HOST}    normalization: { locale_redirect: { default: en, locales: [en, ‸"%2e%2e"] } }\n`,
    message: 'must be one path segment',
  },
  {
    name: 'one render key twice',
    text: 'hosts:\n  - { id: 1, domain: a.example, render_key: k }\n  - { id: 2, domain: b.example, render_key: ‸k }\n',
    message: 'this render key is taken at hosts.yaml:2:45',
  },
  {
    name: 'a domain with scheme',
    text: 'hosts: [{ id: 1, domain: ‸"https://a.example" }]\n',
    message: 'no scheme',
  },
  {
    name: 'a domain with port',
    text: 'hosts: [{ id: 1, domain: ‸"a.example:80" }]\n',
    message: 'no port',
  },
  {
    name: 'a domain with path',
    text: 'hosts: [{ id: 1, domain: ‸a.example/x }]\n',
    message: 'no path',
  },
  {
    name: 'a domain with user',
    text: 'hosts: [{ id: 1, domain: ‸me@a.example }]\n',
    message: 'no user name',
  },
  { name: 'the star alone', text: 'hosts: [{ id: 1, domain: ‸"*" }]\n', message: 'first labels' },
  {
    name: 'a star over a TLD',
    text: 'hosts: [{ id: 1, domain: ‸"*.com" }]\n',
    message: 'two labels',
  },
  {
    name: 'a star inside',
    text: 'hosts: [{ id: 1, domain: ‸"a.*.example.com" }]\n',
    message: 'first labels',
  },
  {
    name: 'an empty label',
    text: 'hosts: [{ id: 1, domain: ‸a..b }]\n',
    message: 'not a valid domain',
  },
  {
    name: 'a blank in a domain',
    text: 'hosts: [{ id: 1, domain: ‸exa mple }]\n',
    message: 'not a valid domain',
  },
  {
    name: 'a broken punycode label',
    text: 'hosts: [{ id: 1, domain: ‸xn-- }]\n',
    message: 'not a valid domain',
  },
  {
    name: 'an empty domain',
    text: 'hosts: [{ id: 1, domain: ‸"" }]\n',
    message: 'an empty domain',
  },
  {
    name: 'wildcards without origin',
    text: 'hosts: [{ id: 1, domain: ‸"*.example.com" }]\n',
    message: 'origin',
  },
  {
    name: 'an origin with credentials',
    text: `${HOST}    origin: ‸http://user:pw@h/\n`,
    message: 'credentials',
  },
  { name: 'a file origin', text: `${HOST}    origin: ‸file:///\n`, message: "can't use file:" },
  {
    name: 'a script origin',
    text: `${HOST}    origin: ‸"javascript:alert(1)"\n`,
    message: 'http://',
  },
  { name: 'an origin port', text: `${HOST}    origin: ‸http://h:99999\n`, message: '99999' },
  { name: 'an origin with a path', text: `${HOST}    origin: ‸http://h/app\n`, message: 'a path' },
  {
    name: 'one bad origin of two',
    text: `${HOST}    origin: [http://a, ‸ftp://b]\n`,
    message: 'ftp:',
  },
  {
    name: 'a bad host header',
    text: `${HOST}    origin_host_header: ‸"a b"\n`,
    message: 'Host header',
  },
  {
    name: 'an empty render key',
    text: `${HOST}    render_key: ‸""\n`,
    message: 'render key is empty',
  },
  {
    name: 'a global key',
    text: `${HOST}    ‸server: {}\n`,
    message: '"server"',
    hint: 'edge-gateway.yaml',
  },
  {
    name: 'a misspelt key',
    text: `${HOST}    ‸orign: http://h\n`,
    message: '"orign"',
    hint: '"origin"',
  },
  { name: 'a rule without match', text: rule('‸action: block'), message: '"match" is missing' },
  { name: 'an empty match', text: rule('match: ‸""'), message: 'empty pattern' },
  { name: 'an empty list of matches', text: rule('match: ‸[]'), message: 'must not be empty' },
  {
    name: 'a path without slash',
    text: rule('match: ‸blog/*'),
    message: 'matches no path',
    hint: '"/blog/*"',
  },
  { name: 'look-behind', text: rule('match: ‸"~(?<=a)b"'), message: 'bad regular expression' },
  { name: 'a back-reference', text: rule("match: ‸'~(a)\\1'"), message: 'bad regular expression' },
  {
    name: 'a reversed range',
    text: rule('match: ["/a", ‸"~[z-a]"]'),
    message: 'bad regular expression',
  },
  {
    name: 'an unknown action',
    text: rule('{ match: /a, action: ‸blok }'),
    message: 'one of',
    hint: '"block"',
  },
  {
    name: 'a query value as number',
    text: rule('{ match: /a, match_query: { page: ‸1 } }'),
    message: 'in quotes',
    hint: '"1"',
  },
  {
    name: 'an empty query value',
    text: rule('{ match: /a, match_query: { q: ‸"" } }'),
    message: 'an empty value',
    hint: '~^$',
  },
  {
    name: 'a status without code',
    text: rule('{ match: /a, action: ‸status }'),
    message: 'needs `status.code`',
  },
  {
    name: 'a redirect without Location',
    text: rule('{ match: /a, action: status, status: { code: ‸301 } }'),
    message: 'Location',
  },
  {
    name: 'a status below 300',
    text: rule('{ match: /a, action: status, status: { code: ‸200 } }'),
    message: 'at least 300',
  },
  {
    name: 'a line break in a header',
    text: rule(
      '{ match: /a, action: block, status: { headers: { X-A: ‸"a\\r\\nSet-Cookie: b" } } }',
    ),
    message: 'line break',
  },
  {
    name: 'framing in a header',
    text: rule('{ match: /a, action: block, status: { headers: { Content-Length: ‸"5" } } }'),
    message: 'gateway itself',
  },
  {
    name: 'an unknown dimension',
    text: rule('{ match: /a, action: render, dimension: ‸dekstop }'),
    message: 'unknown dimension',
    hint: 'desktop',
  },
  {
    name: 'a dimension that does not render',
    text: rule('{ match: /a, action: render, dimension: ‸bypass }'),
    message: 'does not render',
  },
  {
    name: 'a dimension of a bypass',
    text: rule('{ match: /a, action: bypass, dimension: ‸desktop }'),
    message: 'action: render',
  },
  {
    name: 'one rule id twice',
    text: `${HOST}    url_rules:\n      - { id: a, match: /a }\n      - { id: ‸a, match: /b }\n`,
    message: 'rule id "a" is taken',
  },
  { name: 'methods of nothing', text: rule('{ match: /a, methods: ‸[] }'), message: 'no method' },
  {
    name: 'a rule’s timeout that does not nest',
    text: rule('{ match: /a, render: { timeout: ‸3m } }'),
    message: 'server.timeout (2m)',
  },
  {
    name: 'a rule’s soft timeout',
    text: rule('{ match: /a, render: { soft_timeout: ‸30s } }'),
    message: 'render.timeout (30s)',
  },
  {
    name: 'own dimensions without the inherited unmatched one',
    text: `${HOST}    dimensions: { a: { id: 1 } }\n    unmatched_dimension: ‸desktop\n`,
    message: 'unknown dimension "desktop"',
  },
];

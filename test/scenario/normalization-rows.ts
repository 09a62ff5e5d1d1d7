// The public bug reports about URL normalization, one row a case, by their numbers. Each says what a
// crawler or a person asks for on the wire and what must come of it.

interface RowBase {
  readonly id: string;
  readonly what: string;
}

export type NormalizationRow = RowBase &
  (
    | {
        /** A crawler asks; the origin is asked for `fill`, and asking for that again is a hit. */
        readonly ask: string;
        readonly fill: string;
        readonly host?: string;
        readonly authority?: string;
      }
    /** A crawler asks; the URL passes as it came and is not stored. `named`: its normalized form. */
    | { readonly raw: string; readonly named: string }
    /** A crawler is answered without the origin being asked. */
    | { readonly refused: readonly string[]; readonly status: number }
    | { readonly oneKey: readonly string[] }
    | { readonly ownKeys: readonly string[] }
  );

/** Host keys that the rows need; each place that differs from the defaults has a folder. */
export const ROWS_HOST = `
tracking_params: {params_add: [dm_i, "utm_*"], presets: [click_ids]}
url_rules:
  - {match: /unsorted/*, normalization: {sort_query: false}}
  - {match: /keeps-ref/*, tracking_params: {params_remove: [ref, referrer]}}
  - {match: /keep/*, tracking_params: {params_keep: [id]}}
  - {match: /proxy/*, normalization: {collapse_slashes: false}}
  - {match: /zh-CN/*, normalization: {canonical_redirect: 301}}
  - {match: /sso/*, action: bypass}
  - {match: /admin, action: block}
`;

const fill = (id: string, what: string, ask: string, clean: string): NormalizationRow => ({
  id,
  what,
  ask,
  fill: clean,
});
const raw = (id: string, what: string, target: string, named = target): NormalizationRow => ({
  id,
  what,
  raw: target,
  named,
});

export const NORMALIZATION_ROWS: readonly NormalizationRow[] = [
  fill('1', 'a plus is a space, written %20', '/1?q=a+b', '/1?q=a%20b'),
  { id: '1', what: 'a plus and %20 are one', oneKey: ['/1?q=a+b', '/1?q=a%20b'] },
  fill('2', 'an encoded slash survives', '/2?sig=a%2fb', '/2?sig=a%2Fb'),
  fill('3', 'one encoding, sorted', '/3?url=http://x.test', '/3?url=http%3A%2F%2Fx.test'),
  fill(
    '3',
    'the same one, not sorted',
    '/unsorted/3?url=http://x.test',
    '/unsorted/3?url=http%3A%2F%2Fx.test',
  ),
  fill('5', '%25 is never decoded', '/a%252Cb', '/a%252Cb'),
  raw('5', 'nor in the name of an image', '/a%252Cb.jpg'),
  fill('6', 'an encoded backslash is no slash', '/a%5cb', '/a%5Cb'),
  fill('7', 'encoded ? and # stay in the path', '/tea%3F/x%23', '/tea%3F/x%23'),
  raw('9', 'pluses of both kinds stay in a path', '/A+B%2BC.jpg'),
  fill('10', 'real pluses stay pluses', '/10?q=1%2b2+2%2b3', '/10?q=1%2B2%202%2B3'),
  fill('11', '%3A and %2F stay in a path', '/id%3A1.2%2F1', '/id%3A1.2%2F1'),
  fill('13', 'one documented encoder', '/13?u=1&p=a%20b!', '/13?p=a%20b%21&u=1'),
  fill('14', 'parts are split before decoding', '/p%2d1/?q=f', '/p-1/?q=f'),
  fill('15', 'overlong UTF-8 is kept', '/%C0%80', '/%C0%80'),
  fill('17', 'a cut triplet is text', '/%E0%A4%A', '/%E0%A4%25A'),
  raw(
    '18',
    'a signed URL passes untouched',
    '/18?b=1&X-Amz-Signature=a%2fB&a=+',
    '/18?X-Amz-Signature=a%2FB&a=%20&b=1',
  ),
  fill('19', 'values of one name keep their order', '/19?2=A&1=b&C=D&2=0', '/19?1=b&2=A&2=0&C=D'),
  fill(
    '19',
    'sorting can be switched off',
    '/unsorted/19?2=A&1=b&C=D&2=0',
    '/unsorted/19?2=A&1=b&C=D&2=0',
  ),
  { id: '21', what: 'order of one name counts', ownKeys: ['/21?a=1&a=2', '/21?a=2&a=1'] },
  fill('22', 'empty pieces vanish', '/22?&&', '/22'),
  { id: '22', what: 'bare separators are nothing', oneKey: ['/22?&', '/22?', '/22'] },
  fill('23', 'no ampersand at the end', '/23?y=8&b=7&f=4&a=3', '/23?a=3&b=7&f=4&y=8'),
  fill('25', 'no query is made up', '/unsorted/25', '/unsorted/25'),
  { id: '26', what: 'order of names is nothing', oneKey: ['/26?a=1&b=2', '/26?b=2&a=1'] },
  fill('27', 'an exact name is the whole name', '/27?dm_id=7&dm_i=1', '/27?dm_id=7'),
  fill('29', 'a name without value goes alone', '/29?utm_x&id=3', '/29?id=3'),
  fill('30', 'no debris of a URL value', '/30?utm_referrer=https://x.test/', '/30'),
  fill('31', 'ref goes by default', '/kb_article.php?ref=4045-USHJ', '/kb_article.php'),
  fill(
    '31',
    'a rule can keep it',
    '/keeps-ref/kb.php?ref=4045-USHJ',
    '/keeps-ref/kb.php?ref=4045-USHJ',
  ),
  fill(
    '33',
    'the rest of the list still goes',
    '/keeps-ref/33?ref=X&gclid=1',
    '/keeps-ref/33?ref=X',
  ),
  fill('34', 'referrer goes by default', '/captcha?referrer=%2Fci%2F', '/captcha'),
  fill(
    '34',
    'a rule can keep that too',
    '/keeps-ref/captcha?referrer=%2fci%2F',
    '/keeps-ref/captcha?referrer=%2Fci%2F',
  ),
  fill('35', 'names match in any case', '/35?REF=ab12', '/35'),
  raw('35', 'a sign-on path is bypassed by rule', '/sso/ping?REF=ab12', '/sso/ping'),
  fill(
    '37',
    '_kx is not a default',
    '/infolettre/?retrait=dl&_kx=T',
    '/infolettre/?_kx=T&retrait=dl',
  ),
  fill(
    '38',
    'what is left of a tracked link counts',
    '/38?utm_source=a&utm_medium=b&utm_campaign=c&apply=true',
    '/38?apply=true',
  ),
  { id: '38', what: 'it is not the bare page', ownKeys: ['/38?utm_source=a&apply=true', '/38'] },
  fill('39', 'a name goes wherever it stands', '/39?country=ca&gclid=1', '/39?country=ca'),
  fill('42', 'no lone question mark', '/42?utm_source=1', '/42'),
  fill('43', 'a preset keeps up with the world', '/43?srsltid=unique', '/43'),
  fill('45', 'an allow-list drops the rest', '/keep/45?utm_source=fb&x=1&id=2', '/keep/45?id=2'),
  fill('46', 'what is not in the key is not sent', '/46?ref=a', '/46'),
  { id: '46', what: 'so both visitors get one page', oneKey: ['/46?ref=a', '/46?ref=b'] },
  fill('47', 'slashes collapse', '/plain/s3://bucket/x', '/plain/s3:/bucket/x'),
  fill('47', 'unless a rule says no', '/proxy/s3://bucket/x', '/proxy/s3://bucket/x'),
  {
    id: '49',
    what: 'slashes right after a host with a port',
    host: 'site.test:5000',
    ask: '//foo',
    fill: '/foo',
    authority: 'site.test:5000',
  },
  fill('50', 'the slash stays before the query', '//test/?q', '/test/?q'),
  fill(
    '51',
    'slashes in a query are data',
    '/duck?redirect_uri=//x.test',
    '/duck?redirect_uri=%2F%2Fx.test',
  ),
  fill('53', '%2F is kept in the key', '/api/queues/%2F/x', '/api/queues/%2F/x'),
  { id: '53', what: 'and is no slash', ownKeys: ['/api/queues/%2F/x', '/api/queues/x'] },
  {
    id: '54',
    what: 'encoded dots do not dodge a rule',
    refused: ['/pub/%2e%2e/admin', '/pub/..%2fx/../../admin', '/pub/.%2E/admin'],
    status: 403,
  },
  {
    id: '55',
    what: 'nor do doubled slashes or encoded letters',
    refused: ['//admin', '/%61dmin', '/./admin', '/admin?', '/a/../admin?x=1'],
    status: 403,
  },
  fill(
    '57',
    'canonical does not mean decoded',
    '/zh-CN/%e7%99%bb%E5%BD%95',
    '/zh-CN/%E7%99%BB%E5%BD%95',
  ),
  {
    id: '58',
    what: 'a dot after the host',
    host: 'SITE.test.',
    ask: '/58',
    fill: '/58',
    authority: 'site.test',
  },
  fill('59', 'a semicolon separates nothing', '/59?utm_content=x;callback=evil', '/59'),
  { id: '61', what: 'the question mark counts', ownKeys: ['/get?name=hello', '/?getname=hello'] },
  { id: '62', what: 'no sign is cleaned away', ownKeys: ['/route1', '/route-1', '/route_1'] },
];

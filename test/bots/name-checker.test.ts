// Forward-confirmed reverse DNS, asked of a real server over UDP.
import { expect, test } from 'vitest';
import { pattern } from '../helpers/policies.ts';
import { makeNames } from './bot-parts.ts';
import { ptr, type Zone } from './name-server.ts';

const ADDRESS = '192.0.2.7';
const IPV6 = '2001:db8::7';
const NAMES = ['crawl-*.googlebot.com', '*.search.msn.com'].map(pattern);
const NAME = 'crawl-192-0-2-7.googlebot.com';

const ROWS: readonly (readonly [string, string, Zone, string])[] = [
  ['name and back', ADDRESS, { [ptr(ADDRESS)]: [NAME], [`A ${NAME}`]: [ADDRESS] }, 'confirmed'],
  [
    'one of several names and addresses',
    ADDRESS,
    { [ptr(ADDRESS)]: ['other.test', NAME], [`A ${NAME}`]: ['192.0.2.8', ADDRESS] },
    'confirmed',
  ],
  ['IPv6', IPV6, { [ptr(IPV6)]: [NAME], [`AAAA ${NAME}`]: [IPV6] }, 'confirmed'],
  [
    'any case',
    ADDRESS,
    { [ptr(ADDRESS)]: [NAME.toUpperCase()], [`A ${NAME}`]: [ADDRESS] },
    'confirmed',
  ],
  [
    'labels below',
    ADDRESS,
    { [ptr(ADDRESS)]: ['a.b.search.msn.com'], 'A a.b.search.msn.com': [ADDRESS] },
    'confirmed',
  ],
  ['no name', ADDRESS, {}, 'refuted'],
  [
    'a name that is not promised',
    ADDRESS,
    { [ptr(ADDRESS)]: ['host.test'], 'A host.test': [ADDRESS] },
    'refuted',
  ],
  [
    'a name that leads elsewhere',
    ADDRESS,
    { [ptr(ADDRESS)]: [NAME], [`A ${NAME}`]: ['192.0.2.8'] },
    'refuted',
  ],
  ['a name that leads nowhere', ADDRESS, { [ptr(ADDRESS)]: [NAME] }, 'refuted'],
  [
    'a domain that only ends alike',
    ADDRESS,
    { [ptr(ADDRESS)]: ['crawl-1.evilgooglebot.com'], 'A crawl-1.evilgooglebot.com': [ADDRESS] },
    'refuted',
  ],
  [
    'a domain that goes on',
    ADDRESS,
    {
      [ptr(ADDRESS)]: ['crawl-1.googlebot.com.evil.test'],
      'A crawl-1.googlebot.com.evil.test': [ADDRESS],
    },
    'refuted',
  ],
  [
    'the bare domain',
    ADDRESS,
    { [ptr(ADDRESS)]: ['search.msn.com'], 'A search.msn.com': [ADDRESS] },
    'refuted',
  ],
  ['a silent server', ADDRESS, { [ptr(ADDRESS)]: 'silent' }, 'failed'],
  ['a broken server', ADDRESS, { [ptr(ADDRESS)]: 'broken' }, 'failed'],
  [
    'silence on the way back',
    ADDRESS,
    { [ptr(ADDRESS)]: [NAME], [`A ${NAME}`]: 'silent' },
    'failed',
  ],
];

test.each(ROWS)('%s: %s', async (_what, address, zone, expected) => {
  const { names } = await makeNames(zone);
  expect(await names.check(address, NAMES)).toBe(expected);
});

test('of a hundred names only the first few are followed', async () => {
  const many = Array.from({ length: 20 }, (_, index) => `crawl-${index}.googlebot.com`);
  const { names, server } = await makeNames({ [ptr(ADDRESS)]: many });
  expect(await names.check(ADDRESS, NAMES)).toBe('refuted');
  expect(server.questions.filter((question) => question.startsWith('A '))).toHaveLength(8);
});

test('closing ends open questions', async () => {
  const { names } = await makeNames({ [ptr(ADDRESS)]: 'silent' });
  const check = names.check(ADDRESS, NAMES);
  names.close();
  expect(await check).toBe('failed');
});

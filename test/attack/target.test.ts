// Group C of the attack cases: the request target. Whatever is taken reaches the origin byte for
// byte; what the key makes of it is the normalizer's.
import { expect } from 'vitest';
import { type AttackRow, accepted, get, refused, testAttackRows } from './attack-rows.ts';

const untouched = (id: string, target: string): AttackRow =>
  accepted(id, get(target), ([request], reply) => {
    expect(request?.target).toBe(target);
    expect(reply.text).not.toContain('X-Inj');
  });
const parameters = (count: number): string =>
  `/q?${Array.from({ length: count }, (_, i) => `p${i}`).join('&')}`;

const ROWS: readonly AttackRow[] = [
  untouched('C02', '/%2e%2e/%2e%2e/etc/passwd'),
  untouched('C03', '/../../etc/passwd'),
  untouched('C04', '/..%5c..%5cwindows'),
  refused('C06', get('/a%00.html')),
  refused('C07', get('/a\x00.html')),
  untouched('C08', '/%c0%ae%c0%ae/etc'),
  untouched('C10', '/..;/admin'),
  untouched('C11', '//evil.example/%2e%2e'),
  untouched('C12', '/a//b///c'),
  untouched('C14', '/a%'),
  untouched('C15', '/%E0%A4%A'),
  untouched('C16', '/%ff'),
  refused('C18', get('/a b')),
  refused('C19', get('/g#frag')),
  refused('C20', get('/a\x01b')),
  refused('C22', get('*')),
  refused('C23', get('good.example:80')),
  refused('C24', get('g')),
  refused('C26', get('@evil.example/')),
  untouched('C27', '/??a=b&c'),
  untouched('C28', '/%0d%0aX-Inj:%20y'),
  untouched('C30', `/${'a'.repeat(4_000)}`),
  refused('C31', get(`/${'a'.repeat(9_000)}`), 414),
  refused('C32', get(`/${'a'.repeat(20_000)}`), 414, 431),
  refused('C34', get(parameters(10_000)), 414, 431),
  untouched('C35', parameters(1_000)),
  refused('C36', get('/a\x7fb')),
  untouched('backslash', '/\\evil.example'),
  untouched('A1 encoded slash', '/product/id-123%2F456'),
  untouched('A7 two slashes and an encoded one', '//%2Fevil'),
  refused('bytes above ASCII', get('/caf\xc3\xa9?\xff')),
  untouched('NUL in the query only', '/a?%00'),
];

testAttackRows('target', ROWS);

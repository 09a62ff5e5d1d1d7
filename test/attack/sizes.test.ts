// Group E of the attack cases: size, count, odd headers and bodies.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { valuesOf } from '../helpers/raw-origin.ts';
import { type AttackRow, accepted, get, post, refused, testAttackRows } from './attack-rows.ts';

const fields = (count: number, value: string): string =>
  Array.from({ length: count }, (_, i) => `X${i}:${value}`).join('\r\n');
const json = (body: string): string =>
  post(`Content-Type: application/json\r\nContent-Length: ${body.length}`, body);
const sameBody =
  (body: string): AttackRow['check'] =>
  ([request]) => {
    equal(request?.body, body);
  };
const cookies = `Cookie: ${Array.from({ length: 400 }, (_, i) => `c${i}=${'a'.repeat(14)}`).join('; ')}`;

const ROWS: readonly AttackRow[] = [
  accepted('E01', get('/g', fields(90, ' 1')), ([request]) => {
    deepEqual(valuesOf(request, 'x89'), ['1']);
  }),
  refused('E02', get('/g', fields(200, ' 1')), 431),
  refused('E03', get('/g', fields(1_500, '')), 431),
  refused('E04', get('/g', fields(2_500, '')), 431),
  accepted('E06', get('/g', `X: ${'a'.repeat(15_000)}`)),
  refused('E07', get('/g', `X: ${'a'.repeat(17_000)}`), 431),
  refused('E08', get('/g', `X: ${'a'.repeat(70_000)}`), 431),
  accepted('E10', get('/g', `Range: bytes=${Array.from({ length: 1_000 }, () => '0-').join(',')}`)),
  accepted('E11', get('/g', cookies)),
  accepted('E12', get('/g', 'Cookie: a=1\r\nCookie: b=2'), ([request]) => {
    deepEqual(valuesOf(request, 'cookie'), ['a=1; b=2']);
  }),
  accepted(
    'E14',
    get('/g', 'X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2'),
    ([request]) => {
      deepEqual(valuesOf(request, 'x-forwarded-for'), ['127.0.0.1']);
    },
  ),
  accepted('E15', get('/g', '__proto__: x\r\nconstructor: y'), ([request]) => {
    deepEqual(valuesOf(request, 'constructor'), ['y']);
    deepEqual(valuesOf(request, '__proto__'), []);
    equal('x' in Object.prototype, false);
  }),
  accepted('E16', get('/g', 'X-HTTP-Method-Override: DELETE'), ([request]) => {
    equal(request?.method, 'GET');
    deepEqual(valuesOf(request, 'x-http-method-override'), []);
  }),
  accepted('E18', json('{"a":'), sameBody('{"a":')),
  accepted('E19', json('{"__proto__":{"a":1}}'), sameBody('{"__proto__":{"a":1}}')),
  accepted('E20', post('Content-Type: a/b/c; ;;\r\nContent-Length: 5', 'hello'), ([request]) => {
    equal(request?.body, 'hello');
    deepEqual(valuesOf(request, 'content-type'), ['a/b/c; ;;']);
  }),
  accepted(
    'D07, D09, D10',
    get(
      '/g',
      [
        'Forwarded-Host',
        'Original-URL',
        'Rewrite-URL',
        'Host',
        'Forwarded-Server',
        'Forwarded-Prefix',
        'HTTP-Host-Override',
      ]
        .map((name) => `X-${name}: /evil`)
        .join('\r\n'),
    ),
    ([request]) => ok(!request?.head.includes('evil')),
  ),
];

testAttackRows('sizes', ROWS);

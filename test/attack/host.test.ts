// Group B of the attack cases: host and authority.
import { deepEqual, equal } from 'node:assert/strict';
import { valuesOf } from '../helpers/raw-origin.ts';
import { type AttackRow, accepted, refused, testAttackRows } from './attack-rows.ts';

const host = (...lines: readonly string[]): string =>
  `GET /g HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

const ROWS: readonly AttackRow[] = [
  refused('B01 no Host', host()),
  refused('B02', host('Host: good.example', 'Host: evil.example')),
  refused('B03', host('Host: good.example', 'Host: good.example')),
  refused('B04', 'GET http://evil.example/g HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  accepted(
    'B05',
    'GET http://GOOD.example:80/g?x HTTP/1.1\r\nHost: good.example\r\n\r\n',
    ([request]) => equal(request?.target, '/g?x'),
  ),
  refused('B06', host('Host: good.example@evil.example')),
  refused('B07', host('Host: good.example:80abc')),
  refused('B08', host('Host: good.example:99999')),
  refused('B10', host('Host: good.example:80:443')),
  refused('B11', host('Host: good.example evil.example')),
  accepted('B12', host('Host: good.example\t'), ([request]) => {
    deepEqual(valuesOf(request, 'host'), ['good.example']);
  }),
  refused('B14', host('Host: good.example/evil')),
  refused('B15', host('Host: good.example?x#y')),
  refused('B16', host('Host: good.example\x00.evil')),
  refused('B18', host('Host: g\xf6\xf6d.example')),
  { id: 'B19', bytes: host('Host: [::1]:80'), statuses: [421], forwarded: 0 },
  refused('B19, zone id', host('Host: [fe80::1%25eth0]:80')),
  refused('B20', host('Host: [::1')),
  refused('B22', host('Host: good.example', ' .evil')),
  refused('B23', host('Host : good.example')),
  refused('B24', host('Host: good%2eexample')),
  refused('B26', host('Host: ../../etc')),
  refused('B27', host(`Host: ${'a'.repeat(5_000)}`), 400, 431),
  refused('B28', 'GET http://u:p@good.example/g HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  refused('B30', 'GET file:///etc/passwd HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  refused('B31', host('Host: good.example', ' Host: evil.example')),
  refused('B32', 'GET /g HTTP/1.0\r\n\r\n'),
];

testAttackRows('host', ROWS);

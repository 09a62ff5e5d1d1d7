// `hosts.include` as an attack on the time that loading takes.
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { loadFiles, PLAIN_HOSTS, withFolder } from './helpers.ts';

const gatewayWith = (include: string): string =>
  `render: { engine: origin }\nhosts: { include: "${include}" }\n`;

test.each([`${'*a'.repeat(7)}b.yaml`, 'd/****', '**/**/**/**/a.yaml'])(
  '%s is refused',
  async (include) => {
    const { errors } = await loadFiles({ 'edge-gateway.yaml': gatewayWith(include) });
    expect(errors[0]?.message).toContain('too many "*"');
    expect(errors[0]?.hint).not.toBeNull();
  },
);

test('three stars and ** are fine; links to folders are not followed, links to files are', async () => {
  const files = {
    'edge-gateway.yaml': gatewayWith('d/**/*a*.y*ml'),
    'd/e/a.yaml': PLAIN_HOSTS,
    'other.txt': PLAIN_HOSTS.replace('1', '2').replace('example.com', 'two.test'),
  };
  await withFolder(files, async (folder) => {
    for (const name of ['l1', 'l2']) await symlink('.', join(folder, 'd', name));
    await symlink('../other.txt', join(folder, 'd/ab.yaml'));
    const { config, diagnostics } = await loadConfig(join(folder, 'edge-gateway.yaml'), {});
    expect(diagnostics).toEqual([]);
    expect(config?.policies.hosts.map(({ id }) => id).toSorted()).toEqual([1, 2]);
  });
});

// `check`: every problem with file, line and column, errors before warnings, and the status.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { finishCommand, runCommand, startCommand, withFiles } from './run-command.ts';

const GATEWAY = 'render: { engine: origin }\n';
const HOSTS = `hosts:
  - id: 1
    domain: example.com
    url_rules:
      - { match: /cart, action: bypass }
      - { match: [/a, /b], action: block }
  - { id: 2, domain: other.example }
`;

async function check(files: Readonly<Record<string, string>>, command = 'check') {
  return await withFiles(files, async (folder) => {
    const result = await runCommand([command, '-c', join(folder, 'edge-gateway.yaml')], {
      env: { TOKEN: 'a-long-secret' },
    });
    const shorten = (text: string) => text.replaceAll(`${folder}/`, '');
    return { ...result, stdout: shorten(result.stdout), stderr: shorten(result.stderr) };
  });
}

describe.each(['check', '-t'])('edge-gateway %s', (command) => {
  test('says what a good configuration has, in entries as they are written', async () => {
    expect(await check({ 'edge-gateway.yaml': GATEWAY, 'hosts.yaml': HOSTS }, command)).toEqual({
      status: 0,
      stdout: 'edge-gateway.yaml: ok, 2 hosts, 2 rules, 0 errors, 0 warnings\n',
      stderr: '',
    });
  });

  test('prints every error of both files, each at its place, with a hint', async () => {
    const { status, stdout, stderr } = await check(
      {
        'edge-gateway.yaml': 'render:\n  engine: origin\n  timout: 5s\nbypass: { timeout: soon }\n',
        'hosts.yaml': 'hosts:\n  - id: 0\n    domain: example.com\n',
      },
      command,
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^edge-gateway\.yaml:3:3: error: .*timout.*\n {2}hint: .*timeout/m);
    expect(stderr).toMatch(/^edge-gateway\.yaml:4:20: error: .*soon/m);
    expect(stderr).toMatch(/^hosts\.yaml:2:9: error: /m);
    expect(stderr).toMatch(/^edge-gateway\.yaml: 3 errors, 0 warnings\n$/m);
  });
});

test('a warning does not fail the check', async () => {
  const gateway = `eg_id: one\n${GATEWAY}`;
  const { status, stdout, stderr } = await check({
    'edge-gateway.yaml': gateway,
    'hosts.yaml': HOSTS,
  });
  expect(status).toBe(0);
  expect(stderr).toMatch(/^edge-gateway\.yaml:1:1: warning: .*eg_id/);
  expect(stdout).toContain('0 errors, 1 warning\n');
});

test('errors come before warnings', async () => {
  const gateway = `eg_id: one\nnope: 1\n${GATEWAY}`;
  const { stderr } = await check({ 'edge-gateway.yaml': gateway, 'hosts.yaml': HOSTS });
  expect(stderr.indexOf(': error: ')).toBeLessThan(stderr.indexOf(': warning: '));
});

test('a secret out of the environment is not printed', async () => {
  const gateway = `admin: { listen: "\${TOKEN}", token: "\${TOKEN}" }\n${GATEWAY}`;
  const { status, stderr } = await check({ 'edge-gateway.yaml': gateway, 'hosts.yaml': HOSTS });
  expect(status).toBe(1);
  expect(stderr).not.toContain('a-long-secret');
});

test('nothing is created by checking', async () => {
  await withFiles({ 'edge-gateway.yaml': GATEWAY, 'hosts.yaml': HOSTS }, async (folder) => {
    await runCommand(['check', '-c', join(folder, 'edge-gateway.yaml')]);
    expect((await readdir(folder)).toSorted()).toEqual(['edge-gateway.yaml', 'hosts.yaml']);
  });
});

test('as a process: status 1 for a broken file', async () => {
  await withFiles({ 'edge-gateway.yaml': 'server: [\n' }, async (folder) => {
    const file = join(folder, 'edge-gateway.yaml');
    const { status, stdout, stderr } = await finishCommand(startCommand(['check', '-c', file]));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/:\d+:\d+: error: /);
  });
});

// Help, wrong usage and exit statuses: 0 done, 1 failed, 2 wrong usage.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { finishCommand, listCommands, runCommand, startCommand, withFiles } from './run-command.ts';

const COMMANDS = await listCommands();

describe('help', () => {
  test.each(['--help', '-h', 'help'])('%s names every command', async (word) => {
    const { status, stdout, stderr } = await runCommand([word]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe((await runCommand(['--help'])).stdout);
    expect(COMMANDS).toEqual(
      expect.arrayContaining(['serve', 'check', 'explain', 'normalize', 'purge']),
    );
  });

  test('no command at all is help too, and wrong usage', async () => {
    const { status, stdout } = await runCommand([]);
    expect(status).toBe(2);
    expect(stdout).toContain('Usage: edge-gateway COMMAND');
  });

  test.each(COMMANDS)('%s --help shows its usage and options', async (name) => {
    const { status, stdout } = await runCommand([name, '--help']);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: edge-gateway ${name} `));
    expect(stdout).toContain('-c, --config');
    // Every option that the usage line names is explained below it.
    const [usage = '', ...rest] = stdout.split('\n');
    const named = [...usage.matchAll(/--[a-z-]+/g)].map(([option]) => option);
    expect(named.filter((option) => !rest.join('\n').includes(option))).toEqual([]);
    expect((await runCommand([name, '-h'])).stdout).toBe(stdout);
  });
});

test('--version says which one this is', async () => {
  const { status, stdout } = await runCommand(['--version']);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

// Arguments, and what the one line on stderr says.
const WRONG: readonly (readonly [string, string])[] = [
  ['nope', 'there is no command "nope"; see edge-gateway --help'],
  ['CHECK', 'there is no command "CHECK"'],
  ['check --nope', "Unknown option '--nope'; see edge-gateway check --help"],
  ['check hosts.yaml', "Unexpected argument 'hosts.yaml'"],
  ['serve now', "Unexpected argument 'now'"],
  ['normalize https://example.com/', "Unexpected argument 'https://example.com/'"],
  ['check -c', "Option '-c, --config <value>' argument missing"],
  ['normalize --json=1', "Option '--json' does not take an argument"],
  ['explain', 'explain takes one URL'],
  ['explain a.example b.example', 'explain takes one URL'],
  ['purge', 'purge: give one of: a URL, a pattern, a tag'],
  ['purge --soft', 'purge: give one of: a URL, a pattern, a tag'],
  ['purge a.example b.example', 'purge: one URL at a time'],
  ['purge a.example --tag x', 'purge: give one of: a URL, a pattern, a tag'],
  ['purge --pattern /a --tag x', 'purge: give one of: a URL, a pattern, a tag'],
  ['purge --all --undo 1', 'purge: give one of: a URL, a pattern, a tag'],
  ['purge a.example --host b.example', 'purge: a host goes with a pattern or a tag'],
  ['purge --all --host b.example', 'purge: a host goes with a pattern or a tag'],
  ['health --renderer nowhere', 'health: --renderer takes an address'],
  ['purge --undo x', 'purge: --undo takes the id of a purge'],
  ['purge --undo 1 --soft', 'purge: --soft says nothing with --undo'],
];

test.each(WRONG)('wrong usage: %s', async (line, message) => {
  const { status, stdout, stderr } = await runCommand(line.split(' '));
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^edge-gateway: [^\n]+\n$/);
  expect(stderr).toContain(message);
});

test.each(['serve', 'check', 'explain a.example', 'normalize', 'purge a.example', '-t'])(
  'without its configuration %s fails and says where it looked',
  async (line) => {
    await withFiles({}, async (folder) => {
      const file = `${folder}/missing.yaml`;
      const { status, stderr } = await runCommand([...line.split(' '), '-c', file]);
      expect(status).toBe(1);
      expect(stderr).toContain(`${file}:1:1: error: ${file}: no such file`);
    });
  },
);

test('a store that cannot be opened is one line, not a stack', async () => {
  const files = {
    'edge-gateway.yaml': 'render: { engine: origin }\nstorage: { base_path: ./taken }\n',
    'hosts.yaml': 'hosts:\n  - { id: 1, domain: example.com }\n',
  };
  await withFiles(files, async (folder) => {
    await mkdir(join(folder, 'taken/store'), { recursive: true });
    await writeFile(join(folder, 'taken/pages'), 'not a folder');
    const config = ['-c', join(folder, 'edge-gateway.yaml')];
    for (const command of ['explain', 'purge']) {
      const { status, stderr } = await runCommand([command, 'https://example.com/', ...config]);
      expect(status).toBe(1);
      expect(stderr).toMatch(/^edge-gateway: [^\n]*taken[^\n]*\n$/);
    }
  });
});

test('the process ends with the status and writes to the right streams', async () => {
  const [help, wrong] = await Promise.all(
    [['--help'], ['nope']].map((argv) => finishCommand(startCommand(argv))),
  );
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help?.stdout).toContain('Usage: edge-gateway COMMAND');
  expect(wrong).toMatchObject({ status: 2, stdout: '' });
});

// The container image, as far as reading goes: what is copied exists and is let in, what is started
// will be there after a build, and nothing runs as root.
import { expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { isThere, readFile } from './files.ts';

const dockerfile = readFile('Dockerfile').replaceAll(/\\\n/g, ' ');
const lines = dockerfile.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const copied = lines
  .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  .flatMap((line) => line.split(' ').slice(1, -1));

test('every COPY takes what is there', () => {
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((source) => !isThere(source))).toEqual([]);
});

test('the build sees exactly what is copied', () => {
  const letIn = readFile('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  expect(letIn.map((line) => line.slice(1)).sort()).toEqual([...new Set(copied)].sort());
});

test('what is started exists after a build', () => {
  const started = dockerfile.match(/(?<=\/app\/dist\/)[\w/-]+\.js/g) ?? [];
  expect(new Set(started)).toEqual(new Set(['cli/main.js']));
  expect(isThere('src/cli/main.ts')).toBe(true);
});

test('the commands of package.json exist after a build', () => {
  const manifest = JSON.parse(readFile('package.json')) as {
    readonly bin: Readonly<Record<string, string>>;
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const built = [
    ...Object.values(manifest.bin),
    ...Object.values(manifest.exports).map((to) => (typeof to === 'string' ? to : to.default)),
  ];
  const sources = built
    .filter((file) => file.endsWith('.js'))
    .map((file) => file.replace(/^(\.\/)?dist\/(.*)\.js$/, 'src/$2.ts'));
  expect(sources.filter((file) => !isThere(file))).toEqual([]);
});

test('it exposes where a render service listens, and README asks that one for its health', async () => {
  const { stdout } = await runCommand(['render-service', '--help']);
  const port = /--listen [^\n]*:(\d+)\)/.exec(stdout)?.[1];
  expect(lines.find((line) => line.startsWith('EXPOSE'))?.split(' ')).toContain(port);
  const commands = readFile('README.md').replaceAll(/\\\n/g, ' ').split('\n');
  const run =
    commands.find((line) => /^docker run .*edge-gateway render-service /.test(line)) ?? '';
  expect(run).toContain(`--listen :${port}`);
  expect(run).toContain(`--health-cmd 'edge-gateway health --live --renderer 127.0.0.1:${port}'`);
});

test('it runs without root, under an init, with a health check', () => {
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const user = stage.findIndex((line) => line === 'USER node');
  expect(user).toBeGreaterThan(stage.findLastIndex((line) => line.startsWith('RUN ')));
  expect(stage.find((line) => line.startsWith('ENTRYPOINT'))).toContain('"tini"');
  const check = stage.find((line) => line.startsWith('HEALTHCHECK')) ?? '';
  const file =
    stage.findLast((line) => line.startsWith('CMD '))?.match(/"([^"]+\.yaml)"/)?.[1] ?? '';
  expect(check).toContain(`"health", "--live", "-c", "${file}"`);
});

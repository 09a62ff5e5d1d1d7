// The zoo's real applications, built from the installed packages as their makers mean it: by Vite,
// for production, in memory. Every address of an application answers the same empty shell.
import { fileURLToPath } from 'node:url';
import { compile } from 'svelte/compiler';
import { build, type Plugin } from 'vite';
import { answer } from '../pages/page.ts';
import type { ZooPages } from '../zoo.ts';

const SOURCES = {
  lit: new URL('./lit.mjs', import.meta.url),
  react: new URL('./react.mjs', import.meta.url),
  svelte: new URL('./svelte.mjs', import.meta.url),
  vue: new URL('./vue.mjs', import.meta.url),
};
const ROUTES = ['', '/animals', '/animals/tiger'];
const SCRIPTS = '/framework-scripts';

const SVELTE: Plugin = {
  name: 'compile-svelte',
  transform: (code, filename) =>
    filename.endsWith('.svelte')
      ? compile(code, { filename, generate: 'client', css: 'injected' }).js
      : null,
};

/** Builds them once; takes a few seconds. */
export async function buildFrameworks(): Promise<ZooPages> {
  const pages: Record<string, ZooPages[string]> = {};
  for (const framework of Object.keys(SOURCES)) {
    for (const route of ROUTES) pages[`/framework/${framework}${route}`] = makeShell(framework);
  }
  for (const { fileName, text } of await buildScripts()) {
    pages[`${SCRIPTS}/${fileName}`] = answer(200, { 'content-type': 'text/javascript' }, text);
  }
  return pages;
}

function makeShell(framework: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>zoo</title>
<link rel="icon" href="data:,">
<script type="module" src="${SCRIPTS}/${framework}.js"></script></head>
<body><div id="app"></div></body></html>`;
}

interface Script {
  readonly fileName: string;
  readonly text: string;
}

async function buildScripts(): Promise<readonly Script[]> {
  const input = Object.fromEntries(
    Object.entries(SOURCES).map(([framework, url]) => [framework, fileURLToPath(url)]),
  );
  const built = await build({
    configFile: false,
    envFile: false,
    logLevel: 'error',
    base: `${SCRIPTS}/`,
    plugins: [SVELTE],
    // Said here because a test's environment names neither production nor the browser.
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['browser', 'module', 'production'] },
    build: {
      write: false,
      copyPublicDir: false,
      rollupOptions: { input, output: { entryFileNames: '[name].js' } },
    },
  });
  if (!Array.isArray(built) && !('output' in built)) throw new Error('a build, not a watcher');
  return [built]
    .flat()
    .flatMap(({ output }) =>
      output.flatMap((file) =>
        file.type === 'chunk' ? [{ fileName: file.fileName, text: file.code }] : [],
      ),
    );
}

// The origin of the HTTP benches: an nginx that serves three pages from files, plain and br, on the
// core of the load, so that it takes nothing from whom it is asked by.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type Server, startPinned } from './pinned.ts';

export const SIZES_KB = [2, 20, 200] as const;

/** `/20.html`: a page of 20 KB. */
export function targetOf(sizeKb: number): string {
  return `/${sizeKb}.html`;
}

export async function startSite(folder: string, port: number): Promise<Server> {
  const pages = join(folder, 'pages');
  await mkdir(pages, { recursive: true });
  for (const sizeKb of SIZES_KB) {
    const page = makePage(sizeKb * 1_024);
    await writeFile(join(pages, targetOf(sizeKb)), page);
    await writeFile(join(pages, `${targetOf(sizeKb)}.br`), compress(page));
  }
  const file = join(folder, 'site.conf');
  await writeFile(file, siteConfiguration(folder, pages, port));
  return await startPinned('site', ['nginx', '-p', folder, '-e', 'stderr', '-c', file], {
    core: 1,
    port,
  });
}

/** Text that compresses about as well as pages do. */
function makePage(bytes: number): Buffer {
  let seed = 7;
  const words: string[] = ['<!doctype html><title>page</title>'];
  let length = 0;
  while (length < bytes) {
    seed = (seed * 48_271) % 2_147_483_647;
    const word = `<p class="c${seed % 10}">${(seed % 50_000).toString(36)} ${seed % 100}</p>`;
    words.push(word);
    length += word.length;
  }
  return Buffer.from(words.join('')).subarray(0, bytes);
}

function compress(page: Buffer): Buffer {
  return brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** As root nginx would work as somebody else, who can't read the folder of this run. */
export function nginxUser(): string {
  return process.getuid?.() === 0 ? 'user root;' : '';
}

function siteConfiguration(folder: string, pages: string, port: number): string {
  return `${nginxUser()} daemon off; worker_processes 1; pid ${folder}/site.pid;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on; tcp_nopush on; keepalive_requests 1000000;
  default_type "text/html; charset=utf-8";
  map $http_accept_encoding $suffix { "~br" .br; default ""; }
  map $suffix $coding { .br br; default ""; }
  server {
    listen 127.0.0.1:${port};
    root ${pages};
    location / {
      try_files $uri$suffix =404;
      add_header Content-Encoding $coding;
      add_header Vary Accept-Encoding;
      add_header Cache-Control "max-age=3600";
    }
  }
}
`;
}

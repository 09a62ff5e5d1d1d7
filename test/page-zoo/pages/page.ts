// How most animals of the zoo look: a shell whose content a script makes.
import type { ServerResponse } from 'node:http';
import type { ZooPage } from '../zoo.ts';

/** A page whose `#app` is filled by `script`. */
export function app(script: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>zoo</title>${head}</head>
<body><div id="app">shell</div><script>${script}</script></body></html>`;
}

/** A page of a status, with headers. */
export function answer(status: number, headers: Record<string, string>, body = ''): ZooPage {
  return (_request, response) => {
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers })
      .end(body);
  };
}

/** A small JSON answer after some time. */
export function json(value: unknown, delayMs = 0): ZooPage {
  return (_request, response) => {
    const send = (): ServerResponse =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (delayMs === 0) send();
    else setTimeout(send, delayMs);
  };
}

// What the tests use of two packages that bring no types of their own.

declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export interface Request extends IncomingMessage {
    readonly originalUrl: string;
  }
  export interface Response extends ServerResponse {
    readonly send: (body: string) => void;
  }
  export interface Express extends RequestListener {
    readonly use: (handler: unknown) => void;
    readonly get: (path: string, handler: (request: Request, response: Response) => void) => void;
  }
  const express: () => Express;
  export default express;
}

declare module 'prerender-node' {
  interface PrerenderNode {
    (request: unknown, response: unknown, next: () => void): void;
    readonly set: (name: string, value: string | readonly string[]) => PrerenderNode;
  }
  const prerender: PrerenderNode;
  export default prerender;
}

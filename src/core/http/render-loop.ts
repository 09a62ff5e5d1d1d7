// How a render is known as one on its way to the origin, so that nothing renders for a renderer.
// The count is the number of renders a request is nested in; the reference engine's header name is
// kept, because front proxies already exclude it.
import { firstHeader, type HeaderList } from './header-list.ts';

/** Lower case. Its value is the number of renders that the request is part of. */
export const RENDER_HOP_HEADER = 'x-edge-render';

/** How many renders a request is already part of; anything unreadable counts as one. */
export function countRenderHops(headers: HeaderList): number {
  const value = firstHeader(headers, RENDER_HOP_HEADER);
  if (value === null) return 0;
  return /^[1-9][0-9]?$/.test(value) ? Number(value) : 1;
}

/** The marks of a render that is `hops` deep: ours, and the one prerender services use. */
export function renderMarks(hops: number): HeaderList {
  return [
    [RENDER_HOP_HEADER, String(hops)],
    ['x-prerender', '1'],
  ];
}

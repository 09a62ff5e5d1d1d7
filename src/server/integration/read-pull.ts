// A request of the pull listener, sorted: which endpoint, which page, with which key.
import { fieldValues, type RawHeaders } from '../../core/http/hop-headers.ts';
import { type AskedPage, parseAskedPage, readUrlParameter, readUrlPath } from './asked-page.ts';

/** `render`: the reference engine's endpoint; `prerender`: the prerender wire contract. */
export type PullContract = 'render' | 'prerender';

export type Pull =
  | { readonly kind: 'health' | 'ready' }
  | {
      readonly kind: 'page';
      readonly contract: PullContract;
      /** null: missing, or nothing that is a URL. */
      readonly page: AskedPage | null;
    }
  | { readonly kind: 'unknown' };

const KEY_FIELDS = ['x-render-key', 'x-prerender-token'];

/** @param target raw, in origin form */
export function readPull(target: string): Pull {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  if (path === '/health') return { kind: 'health' };
  if (path === '/ready') return { kind: 'ready' };
  const isRender = path === '/render';
  const text = isRender
    ? readUrlParameter(queryAt === -1 ? '' : target.slice(queryAt + 1))
    : readUrlPath(target);
  if (!isRender && text === null) return { kind: 'unknown' };
  const page = text === null ? null : parseAskedPage(text);
  return { kind: 'page', contract: isRender ? 'render' : 'prerender', page };
}

/** The key of a request, whichever contract it is for; two of a kind count as none. */
export function readKey(raw: RawHeaders): string | null {
  for (const name of KEY_FIELDS) {
    const [value, ...others] = fieldValues(raw, name);
    if (value !== undefined) return others.length === 0 ? value : null;
  }
  return null;
}

// The header fields that describe the client a page is rendered for: the dimension's, never a
// client's own, and what the policy lets along.
import { dropNeverFilled } from '../../../core/http/filter-headers.ts';
import type { HeaderList } from '../../../core/http/header-list.ts';
import type { PageJob } from '../../../pipeline/ports.ts';

/** Fields a service reads as ours: a client may not set them for it. */
const RESERVED = /^x-(?:prerender|edge-render)/i;

export function pageHeaders({ dimension, headers }: PageJob): HeaderList {
  const { locale } = dimension;
  const along = dropNeverFilled(headers).filter(
    ([name]) =>
      !RESERVED.test(name) && (locale === null || name.toLowerCase() !== 'accept-language'),
  );
  const language = locale === null ? [] : [['accept-language', locale] as const];
  return [['user-agent', dimension.renderUserAgent], ...language, ...along];
}

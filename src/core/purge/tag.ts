// Tags (surrogate keys) as they may be stored and asked for: short, printable, without spaces and
// commas, because those separate tags in the headers they come in.

/** One tag, compared exactly. */
export const TAG = /^[\x21-\x2b\x2d-\x7e]{1,256}$/;

/** Most tags that are kept of one page; one with more may have any. */
export const TAGS_MAX = 128;

/** Fields in which an origin tags its answers. They are for caches and not sent to clients. */
export const TAG_FIELDS: readonly string[] = ['surrogate-key', 'cache-tag'];

/**
 * The tags in texts of any of the ways they are written; what is no tag is left out.
 *
 * @returns null when they are more than are kept
 */
export function splitTags(texts: readonly string[]): readonly string[] | null {
  const tags = new Set<string>();
  for (const text of texts) {
    for (const tag of text.split(/[\s,]+/)) {
      if (TAG.test(tag)) tags.add(tag);
      if (tags.size > TAGS_MAX) return null;
    }
  }
  return [...tags];
}

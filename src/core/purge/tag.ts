// Tags (surrogate keys) as they may be stored and asked for: short, printable, without spaces and
// commas, because those separate tags in the headers they come in.

/** One tag, compared exactly. */
export const TAG = /^[\x21-\x2b\x2d-\x7e]{1,256}$/;

/** Most tags one page may have; more are left out. */
export const TAGS_MAX = 128;

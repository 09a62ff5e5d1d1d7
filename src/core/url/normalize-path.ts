// Step 5 after encoding: runs of `/` collapse, then dot segments resolve, then the host's options.
// The order matters: `/a//../b` is `/b`, as Cloudflare documents and unlike RFC 3986 alone.
import type { NormalizationPolicy } from '../policy/policy.ts';

/** The path a rule is chosen on: no option can hide a page from a rule by spelling. */
export function resolvePath(encodedPath: string, collapseSlashes = true): string {
  const path = encodedPath === '' ? '/' : encodedPath;
  if (!path.includes('/.') && !path.includes('//')) return path;
  const kept: string[] = [];
  for (let start = 1; start <= path.length; ) {
    const slashAt = path.indexOf('/', start);
    const isLast = slashAt === -1;
    const segment = isLast ? path.slice(start) : path.slice(start, slashAt);
    // RFC 3986 §5.2.4; never climbs above the root, a final dot segment leaves its slash.
    if (segment === '..') kept.pop();
    const isDots = segment === '.' || segment === '..';
    if (isLast) kept.push(isDots ? '' : segment);
    else if (!isDots && (segment !== '' || !collapseSlashes)) kept.push(segment);
    start = isLast ? path.length + 1 : slashAt + 1;
  }
  return `/${kept.join('/')}`;
}

/** The path options of the effective policy, on an encoded and resolved path. */
export function applyPathOptions(path: string, policy: NormalizationPolicy): string {
  let result = policy.lowercasePath ? lowercasePath(path) : path;
  if (policy.defaultDocuments.length === 0 && policy.trailingSlash === 'preserve') return result;
  // Taking a slash away can bring up the next default document: repeat until nothing changes.
  for (let before = ''; before !== result; ) {
    before = result;
    result = applyTrailingSlash(removeDefaultDocument(result, policy), policy);
  }
  return result;
}

function lowercasePath(path: string): string {
  return path.replace(/%[0-9A-F]{2}|[A-Z]+/g, (run) =>
    run.startsWith('%') ? run : run.toLowerCase(),
  );
}

function removeDefaultDocument(path: string, policy: NormalizationPolicy): string {
  const lastSlash = path.lastIndexOf('/');
  const segment = path.slice(lastSlash + 1);
  return policy.defaultDocuments.includes(segment) ? path.slice(0, lastSlash + 1) : path;
}

function applyTrailingSlash(path: string, policy: NormalizationPolicy): string {
  if (policy.trailingSlash === 'add') {
    return path.endsWith('/') || hasFileExtension(path) ? path : `${path}/`;
  }
  if (policy.trailingSlash !== 'remove') return path;
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === 0x2f) end -= 1;
  return path.slice(0, end);
}

/** Whether the last segment ends in a dot and a short alphanumeric suffix (`app.js`). */
export function hasFileExtension(path: string): boolean {
  return /[^/]\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,8}$/.test(path);
}

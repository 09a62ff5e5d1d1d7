// Steps 3 and 4: scheme and authority → site. Cut by hand: a parser that repairs (WHATWG) or that
// reads `example.com:8080` as a scheme (RFC 3986) would cut elsewhere.
import { err, ok, type Result } from '../result.ts';
import { normalizeAuthority } from './normalize-authority.ts';
import { recordStep, type Trace } from './trace.ts';
import type { UrlErrorKind } from './url-error.ts';

export interface Site {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Decimal digits without leading zeros; empty for the scheme's default port. */
  readonly port: string;
  /** All three, as a canonical URL begins: `https://example.com:8080`. */
  readonly prefix: string;
}

const HTTP_WITHOUT_SLASHES = /^https?:(?!\/\/)/i;

export function makeSite(scheme: Site['scheme'], host: string, port: string): Site {
  return { scheme, host, port, prefix: `${scheme}://${host}${port === '' ? '' : `:${port}`}` };
}

/** @param text a URL up to its path, as written */
export function readSite(text: string, trace: Trace | null): Result<Site, UrlErrorKind> {
  const split = splitScheme(text, trace);
  if (!split.ok) return split;
  const { scheme, authority } = split.value;
  const named = normalizeAuthority(authority, scheme, trace);
  return named.ok ? ok(makeSite(scheme, named.value.host, named.value.port)) : named;
}

interface SplitSite {
  readonly scheme: Site['scheme'];
  /** Host and port as written, without the leading slashes. */
  readonly authority: string;
}

function splitScheme(text: string, trace: Trace | null): Result<SplitSite, UrlErrorKind> {
  const slashAt = text.indexOf('/');
  if (slashAt > 0) {
    const written = text.slice(0, slashAt - 1);
    const scheme = written.toLowerCase();
    if (scheme !== 'http' && scheme !== 'https') return err('unsupported_scheme');
    recordStep(trace, 'scheme', written, scheme);
    return ok({ scheme, authority: text.slice(slashAt + 2) });
  }
  // A gateway does not repair: https:/x, https:x and /path name no host.
  if (HTTP_WITHOUT_SLASHES.test(text)) return err('missing_host');
  recordStep(trace, 'scheme', '', 'https');
  return ok({ scheme: 'https', authority: slashAt === 0 ? text.slice(2) : text });
}

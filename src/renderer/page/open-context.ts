// The browser context of one render: a person with an empty browser, of the size, device, language
// and name that the dimension says, whose every connection goes through the render's own egress.
import type { Browser, BrowserContext } from 'playwright-core';
import type { RenderRequest } from '../../core/http/render-request.ts';

/** Narrower than a tablet: a phone, with touch and a dense screen. */
const MOBILE_WIDTH = 768;
const MOBILE_SCALE = 2;

/** Opens it; popups are closed as soon as they appear, dialogs are dismissed by Playwright. */
export async function openContext(
  browser: Browser,
  request: RenderRequest,
  proxyUrl: string,
): Promise<BrowserContext> {
  const isMobile = request.width < MOBILE_WIDTH;
  const locale = readLocale(request.locale);
  const context = await browser.newContext({
    proxy: { server: proxyUrl, bypass: '<-loopback>' },
    viewport: { width: Math.max(1, request.width), height: Math.max(1, request.height) },
    isMobile,
    hasTouch: isMobile,
    deviceScaleFactor: isMobile ? MOBILE_SCALE : 1,
    userAgent: request.user_agent,
    serviceWorkers: 'block',
    acceptDownloads: false,
    ...(locale === null ? {} : { locale }),
  });
  // A page may close itself, and then there is nothing to capture.
  await context.addInitScript('window.close = () => undefined;');
  return context;
}

/** The first language of a tag or of an Accept-Language list; null when it is no language. */
function readLocale(text: string | null): string | null {
  const tag = text?.split(/[,;]/)[0]?.trim() ?? '';
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    // Not a language tag: the browser's own language is as good as any.
    return null;
  }
}

// The command line of Chromium: nothing of its own over the network, no way past the proxy, no
// windows, and the debugging channel on a pipe, so that no port exists that a page could reach and
// the browser ends by itself when we die.
import { profileFlag } from '../folders/own-folder.ts';

export interface FlagOptions {
  readonly profileFolder: string;
  readonly hasSandbox: boolean;
  /** Public key (SHA-256, base64) of the certificate the egress shows for configured hosts. */
  readonly trustedKeyHash: string;
}

const FEATURES_OFF = [
  // They would leave http for https, or ask before a page reaches the proxy on loopback.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LocalNetworkAccessChecks',
  'LocalNetworkAccessChecksWebSockets',
  // Pages loaded ahead of a click are targets of their own that nobody captures.
  'Prerender2',
  'SpeculationRulesPrefetchFuture',
  // One page is rendered in one context, which is isolated from all others already.
  'IsolateOrigins',
  'site-per-process',
  // Fetch interception breaks cross-origin redirects with it.
  'AvoidCorsURLLoaderRestartOnRedirect',
  'DestroyProfileOnBrowserClose',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'Translate',
  // Every render opens a window, and every window loads the address bar's own pages for suggestions
  // into a process of theirs: half of what a small page costs.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

const FIXED_FLAGS: readonly string[] = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--no-startup-window',
  // Egress: every connection goes through the context's own proxy. The default one leads nowhere.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  // One switch, renamed over the years.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  // Nothing of its own.
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-search-engine-choice-screen',
  '--disable-stack-profiler',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
  // A page nobody looks at must run as if somebody did.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-renderer-backgrounding',
  '--disable-back-forward-cache',
  '--disable-site-isolation-trials',
  // The 64 MB of /dev/shm in a container are too few.
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--mute-audio',
];

/** The arguments of one browser. */
export function chromiumFlags(options: FlagOptions): readonly string[] {
  return [
    ...FIXED_FLAGS,
    `--disable-features=${FEATURES_OFF.join(',')}`,
    profileFlag(options.profileFolder),
    `--ignore-certificate-errors-spki-list=${options.trustedKeyHash}`,
    ...(options.hasSandbox ? [] : ['--no-sandbox']),
  ];
}

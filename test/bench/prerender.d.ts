// The part of npm's prerender that the bench starts; the package has no types of its own.
declare module 'prerender' {
  export interface PrerenderOptions {
    readonly host: string;
    readonly port: number;
    readonly chromeLocation: string;
    readonly extraChromeFlags: readonly string[];
    readonly browserDebuggingPort: number;
  }

  export interface PrerenderPlugin {
    readonly connectedToBrowser?: (request: object, response: object, next: () => void) => void;
  }

  export interface PrerenderServer {
    readonly use: (plugin: PrerenderPlugin) => void;
    readonly start: () => void;
  }

  interface Prerender {
    (options: PrerenderOptions): PrerenderServer;
    readonly sendPrerenderHeader: () => PrerenderPlugin;
    readonly browserForceRestart: () => PrerenderPlugin;
    readonly addMetaTags: () => PrerenderPlugin;
    readonly removeScriptTags: () => PrerenderPlugin;
    readonly httpHeaders: () => PrerenderPlugin;
  }

  const prerender: Prerender;
  // biome-ignore lint: the package is one function
  export default prerender;
}

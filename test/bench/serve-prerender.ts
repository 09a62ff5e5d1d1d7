// The other contender in a process of its own: npm's prerender with the plugins of its own server
// and its default waits.
import prerender from 'prerender';
import type { Orders } from './renderers.ts';

process.once('message', ({ executablePath, folder, ports }: Orders) => {
  const [port, browserDebuggingPort] = ports;
  const isRoot = process.getuid?.() === 0;
  const server = prerender({
    host: '127.0.0.1',
    port,
    chromeLocation: executablePath,
    browserDebuggingPort,
    extraChromeFlags: [`--user-data-dir=${folder}`, ...(isRoot ? ['--no-sandbox'] : [])],
  });
  server.use(prerender.sendPrerenderHeader());
  server.use(prerender.browserForceRestart());
  server.use(prerender.addMetaTags());
  server.use(prerender.removeScriptTags());
  server.use(prerender.httpHeaders());
  server.use({
    connectedToBrowser: (_request, _response, next) => {
      process.send?.({ address: `http://127.0.0.1:${port}` });
      next();
    },
  });
  server.start();
});

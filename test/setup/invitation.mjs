// What `npm start` says when the gateway is ready: three requests to try, and what each will show.

/** Prints the three `curl` lines. */
export function printInvitation(gatewayPort, adminPort) {
  const site = `http://localhost:${gatewayPort}`;
  const show = (url, agent) => `curl -si ${agent}'${site}${url}' | grep -iE '^(x-|cache-|age)'`;
  console.log(`
The gateway is ready on ${site}, in front of the demo site. Try, in another terminal:

  ${show('/products?color=blue&utm_source=mail', '-A Googlebot ')}
      A crawler, the first time: X-Render-Cache: new. The page was fetched once and is now stored
      (in ./data, also over a restart: then it is a hit at once).

  ${show('/products?gclid=EAIa&color=blue&fbclid=IwAR', '-A Googlebot ')}
      The same page with other tracking parameters: X-Render-Cache: hit. The site was not asked.

  curl -si '${site}/headers?utm_source=mail&b=2&a=1'
      A person: X-Render-Cache: bypass. The answer shows what reached the site: the address untouched.

Health, metrics: http://127.0.0.1:${adminPort}/health, /metrics. Ctrl-C ends it all.
`);
}

// What `npm start` says when the gateway is ready: three requests to try, and what each will show.

/** Prints the three `curl` lines; pages are stored where edge-gateway.yaml says, too. */
export function printInvitation(gatewayPort, adminPort, engine) {
  const folder = process.env.EDGE_GATEWAY_DATA || './data';
  const site = `http://localhost:${gatewayPort}`;
  const show = "| grep -iE '^(x-render|cache-status|<div id)'";
  const page =
    engine === 'chromium'
      ? 'its content, written by script, is there, and the scripts are gone'
      : 'it is the page as the site sends it, since nothing renders here';
  console.log(`
The gateway is ready on ${site}, in front of the demo site. Try, in another terminal:

  curl -si -A Googlebot '${site}/app?utm_source=mail' ${show}
      A crawler on a page that is made by JavaScript: X-Render-Cache: new;
      ${page}. It is stored in ${folder}, also over a restart.

  curl -si -A Googlebot '${site}/app?gclid=EAIa&fbclid=IwAR' ${show}
      The same page with other tracking parameters: X-Render-Cache: hit. The site was not asked.

  curl -si '${site}/app?utm_source=mail' ${show}
      A person: X-Render-Cache: bypass, and the site's own empty shell, untouched.

Health, metrics: http://127.0.0.1:${adminPort}/health, /metrics. Ctrl-C ends it all.
`);
}

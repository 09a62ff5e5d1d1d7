// An Express site behind prerender-node: the middleware as it is, asking edge-gateway instead of a
// hosted service. Every other prerender middleware needs the same two settings.
import express from 'express';
import prerender from 'prerender-node';

// From `edge-gateway bots pattern`, which knows your own dimensions, too.
const CRAWLER =
  /(^u?|[^u]|[^c]u)bot|crawl|spider|preview|external|-user|.mastodon.|^whatsapp.|amazon-kendra|amazon-qbusiness|anthropic-ai|bluesky.cardyb|claude-web|clickuplinkunfurler|cohere-ai|compatible..daum.|cotoyogi|daumoa|discourse.forum.onebox|embedly|facebookcatalog|flipboardproxy|gemini-deep-research|google-agent|google-inspectiontool|google-notebooklm|googleagent-urlcontext|googleother|ia_archiver|iframely|meta-webindexer|mistralai-index|mistralai-training|owler|qwantify|search.marginalia.nu|slack-imgproxy|vkshare|y.j-|yahoo..slurp|yandexadditional|yandeximages|yeti/i;

const app = express();

app.use((request, response, next) => {
  if (CRAWLER.test(request.get('User-Agent') ?? '')) prerender(request, response, next);
  else next();
});
prerender
  .set('prerenderServiceUrl', 'http://127.0.0.1:8081/')
  // The host's render_key.
  .set('prerenderToken', process.env.EDGE_GATEWAY_RENDER_KEY)
  // What the public URL has, where TLS ends before Express.
  .set('protocol', 'https')
  // In everybody's name: the expression above has chosen.
  .set('crawlerUserAgents', ['']);

app.use(express.static('public'));
app.listen(3000);

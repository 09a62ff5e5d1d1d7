// A Cloudflare worker on the site's route: crawlers get their pages from edge-gateway's pull
// listener, everyone else, and everything that fails, goes to the origin as before.
// Secrets of the worker: GATEWAY_URL (https://gateway.example.com) and RENDER_KEY.

// From `edge-gateway bots pattern`, which knows your own dimensions, too.
const CRAWLER =
  /(^u?|[^u]|[^c]u)bot|crawl|spider|preview|external|-user|.mastodon.|^whatsapp.|amazon-kendra|amazon-qbusiness|anthropic-ai|bluesky.cardyb|claude-web|clickuplinkunfurler|cohere-ai|compatible..daum.|cotoyogi|daumoa|discourse.forum.onebox|embedly|facebookcatalog|flipboardproxy|gemini-deep-research|google-agent|google-inspectiontool|google-notebooklm|googleagent-urlcontext|googleother|ia_archiver|iframely|meta-webindexer|mistralai-index|mistralai-training|owler|qwantify|search.marginalia.nu|slack-imgproxy|vkshare|y.j-|yahoo..slurp|yandexadditional|yandeximages|yeti/i;
const FILE =
  /\.(?:avif|css|gif|gz|ico|jpe?g|js|json|map|mjs|mp[34]|pdf|png|rss|svg|ttf|txt|wasm|web[mp]|woff2?|xml|zip)$/i;
// Longer than render.timeout and bypass.timeout together.
const TIMEOUT_MS = 90_000;

export default {
  async fetch(request, env) {
    if (!isForGateway(request)) return fetch(request);
    try {
      const answer = await askGateway(request, env);
      if (answer.status < 500 && answer.status !== 401) return answer;
    } catch {
      // The gateway can't be reached: the origin answers.
    }
    return fetch(request);
  },
};

function isForGateway(request) {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  // A render's own requests carry the mark: sending them round again would be a loop.
  if (!isRead || request.headers.has('X-Edge-Render')) return false;
  if (FILE.test(new URL(request.url).pathname)) return false;
  return CRAWLER.test(request.headers.get('User-Agent') ?? '');
}

function askGateway(request, env) {
  const headers = new Headers({
    'User-Agent': request.headers.get('User-Agent') ?? '',
    'X-Render-Key': env.RENDER_KEY,
    'X-Forwarded-For': request.headers.get('CF-Connecting-IP') ?? '',
  });
  for (const name of ['If-None-Match', 'If-Modified-Since']) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return fetch(`${env.GATEWAY_URL}/render?url=${encodeURIComponent(request.url)}`, {
    method: request.method,
    headers,
    // A redirect is the crawler's to follow.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

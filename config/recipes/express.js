// An Express site behind prerender-node: the middleware as it is, asking edge-gateway instead of a
// hosted service. Every other prerender middleware needs the same two settings.
import express from 'express';
import prerender from 'prerender-node';

const app = express();

app.use(
  prerender
    .set('prerenderServiceUrl', 'http://127.0.0.1:8081/')
    // The host's render_key.
    .set('prerenderToken', process.env.EDGE_GATEWAY_RENDER_KEY)
    // What the public URL has, where TLS ends before Express.
    .set('protocol', 'https'),
);

app.use(express.static('public'));
app.listen(3000);

// Runs the demo site by itself: `node --import tsx test/demo-site/main.ts`, on DEMO_SITE_PORT or 3000.
import { startDemoSite } from './site.ts';

const site = await startDemoSite({ port: Number(process.env['DEMO_SITE_PORT'] ?? 3000) });
console.log(`demo site on ${site.url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void site.close().then(() => process.exit(0)));
}

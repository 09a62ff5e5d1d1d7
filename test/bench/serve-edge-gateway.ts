// One contender of the bench in a process of its own: our render service, as it comes.
import { once } from 'node:events';
import type { RenderHost } from '../../src/renderer/options.ts';
import { startRenderService } from '../../src/renderer/server/start-render-service.ts';
import type { Orders } from './renderers.ts';

const [orders] = (await once(process, 'message')) as [Orders];
const host: RenderHost = {
  domain: new URL(orders.origin).hostname,
  origins: [{ url: orders.origin }],
  originHostHeader: null,
  scheme: 'http',
};
const service = await startRenderService({
  listen: { host: '127.0.0.1', port: 0 },
  findHost: (name) => (name === host.domain ? host : null),
  executablePath: orders.executablePath,
  pool: { tabs: orders.tabs },
});
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)));
process.send?.({ address: service.address });

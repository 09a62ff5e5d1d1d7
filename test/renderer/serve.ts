// A render service in a process of its own, for tests that kill it: says the browser's process id.
import { startRenderService } from '../../src/renderer/server/start-render-service.ts';

const service = await startRenderService({
  listen: { host: '127.0.0.1', port: 0 },
  findHost: () => null,
});
console.log(service.browserPid());

// A gateway in a process of its own, so that its memory is its own: tells its port, then answers
// every message with its resident memory.
import { startBypassGateway } from '../helpers/bypass-gateway.ts';

const [, , originUrl = ''] = process.argv;
const gateway = await startBypassGateway({ originUrl });
process.on('message', () => process.send?.({ rssBytes: process.memoryUsage.rss() }));
process.on('disconnect', () => process.exit());
process.send?.({ port: gateway.port });

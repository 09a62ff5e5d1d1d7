// The defaults of `server.limits`, for servers that are built without a configuration.
import type { ServerLimits } from '../../src/config/settings.ts';

export const SERVER_LIMITS: ServerLimits = {
  headerFieldsMax: 100,
  headerBytesMax: 16_384,
  bodyBytesMax: 0,
  connectionsMax: 10_000,
  pageBytesMax: 20 * 1024 * 1024,
  waitersPerKeyMax: 1_000,
  headersTimeoutMs: 15_000,
  bodyIdleTimeoutMs: 30_000,
  keepAliveTimeoutMs: 72_000,
};

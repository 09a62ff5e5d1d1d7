// Every number that bounds a loop, a queue, a string or a wait, in one place. A limit that the user
// may change is only the default here; the setting's name stands beside it.

export const LIMITS = {
  /** `normalization.max_url_bytes` */
  urlBytesMax: 8_192,
  /** `normalization.max_params` */
  paramsMax: 1_000,
  /** DNS: RFC 1035 §2.3.4. */
  hostCharsMax: 253,
  labelCharsMax: 63,

  /** `server.limits.header_fields` and `.header_bytes` */
  headerFieldsMax: 100,
  headerBytesMax: 16_384,
  /** `server.limits.body_bytes`: 0 is unlimited, bodies are streamed. */
  bodyBytesMax: 0,
  /** `server.limits.connections` */
  connectionsMax: 10_000,
  /** `server.limits.page_bytes`: largest page that is stored or rendered. */
  pageBytesMax: 20 * 1024 * 1024,
  /** `server.limits.waiters_per_key` */
  waitersPerKeyMax: 1_000,

  /** `server.limits.headers_timeout`, `.body_timeout` (whole upload stalls), `.idle_timeout` */
  headersTimeoutMs: 15_000,
  bodyIdleTimeoutMs: 30_000,
  keepAliveTimeoutMs: 72_000,

  /** Longest any request waits for Redis (spec: request-flow, the trouble table). */
  storeTimeoutMs: 200,
  userAgentCharsMax: 1_024,
} as const;

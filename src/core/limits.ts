// Bounds that several places share, and none that an operator sets: those are in the settings, and
// their defaults in config/defaults/settings.yaml. Whatever bounds one place only stands beside it.

export const LIMITS = {
  /** Of the library, unless it is told otherwise; as the defaults of `normalization.max_…`. */
  urlBytesMax: 8_192,
  paramsMax: 1_000,
  /** DNS: RFC 1035 §2.3.4. */
  hostCharsMax: 253,
  labelCharsMax: 63,

  /** Header fields of a stored answer. */
  storedFieldsMax: 100,

  /** Of an origin's answer, however it is asked; what `server.limits` says is about clients. */
  originHeadBytesMax: 16_384,
  /** How long an answer of an origin that is read to be stored may stall. */
  originBodyIdleTimeoutMs: 30_000,

  /** Longest any request waits for Redis (spec: request-flow, the trouble table). */
  storeTimeoutMs: 200,
  userAgentCharsMax: 1_024,
} as const;

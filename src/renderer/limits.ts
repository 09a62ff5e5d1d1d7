// What bounds a render: texts, waits, sizes. None of it can be set; what can be is in
// RenderServiceOptions, with its defaults beside it.

export const RENDER_LIMITS = {
  /** Largest JSON question. */
  requestBytesMax: 1_048_576,
  /** Largest captured page. */
  htmlBytesMax: 20 * 1024 * 1024,
  consoleErrorsMax: 50,
  pendingRequestsMax: 50,
  /** Length of one console error or pending URL. */
  noteCharsMax: 500,
  /** Header bytes of the page that are reported. */
  headerBytesMax: 65_536,
  headersMax: 500,
  /** Longest URL or header value that is reported. */
  textCharsMax: 16_000,

  /** The network counts as quiet when nothing that counts was under way for this long. */
  quietMs: 500,
  /** Long polls are left under way no later than at this part of the soft limit. */
  longPollPart: 0.5,
  /** Answered questions of a page that are kept to know one that is asked again. */
  questionsMax: 200,
  /** How often readiness is looked at. */
  sampleMs: 50,
  /** Kept back from the hard limit, so that a page can still be captured. */
  captureMarginMs: 1_000,
  /** The margin is no more than this part of the whole time. */
  captureMarginPart: 0.2,
  /** Documents a page may load in place of itself before it counts as a loop. */
  reloadsMax: 3,

  /** Lazy content: the viewport grows to the page's height, at most this often and this far. */
  growthsMax: 3,
  viewportHeightMax: 10_000,
  /** What a grown viewport is given to start loading something. */
  growthPauseMs: 100,
  /** How long its next frames are waited for. */
  framesTimeoutMs: 1_000,

  /** Renders of renders of renders: the hop at which a loop is cut. */
  hopsMax: 3,

  /** Connections of one page through its egress. */
  egressConnectionsMax: 256,
  connectTimeoutMs: 5_000,

  launchTimeoutMs: 20_000,
  /** A context that cannot be made or closed in this time means that the browser hangs. */
  browserAnswerTimeoutMs: 5_000,
  /** Between SIGTERM and SIGKILL. */
  killGraceMs: 2_000,
  heartbeatMs: 2_000,
} as const;

// Every metric of the gateway, in one table: name, help, labels with how many values each may
// take, buckets where it is a histogram. spec: operations, "Metrics and logs".

/**
 * Values a label of configured names may take: more hosts or dimensions than this share `other`.
 */
const CONFIGURED_MAX = 10_000;
/** Values a label of fixed words may take. */
const WORDS_MAX = 64;

interface MetricRow {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, number>>;
  readonly buckets?: readonly number[];
}

const SECONDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const METRICS = {
  requests: {
    name: 'edge_gateway_requests_total',
    help: 'Requests by host, dimension, where the answer came from and what the cache said',
    labels: {
      host: CONFIGURED_MAX,
      domain: CONFIGURED_MAX,
      dimension: CONFIGURED_MAX,
      source: WORDS_MAX,
      cache: WORDS_MAX,
    },
  },
  collapsed: {
    name: 'edge_gateway_collapsed_requests_total',
    help: 'Requests that waited for what another had asked for, by where the answer came from',
    labels: { source: WORDS_MAX },
  },
  durations: {
    name: 'edge_gateway_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by outcome',
    labels: { source: WORDS_MAX, cache: WORDS_MAX },
    buckets: SECONDS,
  },
  pages: {
    name: 'edge_gateway_page_source_results_total',
    help: 'Pages got from a source: page, partial, or why it failed',
    labels: { source: WORDS_MAX, result: WORDS_MAX },
  },
  rendererReady: {
    name: 'edge_gateway_renderer_ready',
    help: 'Whether a render service is ready to render, by service: the own one, or where it is',
    labels: { service: CONFIGURED_MAX },
  },
  rendererRestarts: {
    name: 'edge_gateway_renderer_restarts_total',
    help: 'How often the own render service ended and is started again: crashed, or not_ready',
    labels: { reason: WORDS_MAX },
  },
  pageDurations: {
    name: 'edge_gateway_page_source_duration_seconds',
    help: 'Time a page source took, by source',
    labels: { source: WORDS_MAX },
    buckets: SECONDS,
  },
  storeErrors: {
    name: 'edge_gateway_store_errors_total',
    help: 'Answers of a store that were no answer: unavailable or damaged',
    labels: { store: WORDS_MAX, operation: WORDS_MAX, state: WORDS_MAX },
  },
  collisions: {
    name: 'edge_gateway_key_collisions_total',
    help: 'Entries found under the key of another URL',
    labels: { host: CONFIGURED_MAX },
  },
  strippedPairs: {
    name: 'edge_gateway_stripped_pairs_total',
    help: 'Tracking parameters removed from URLs',
    labels: { host: CONFIGURED_MAX },
  },
  bots: {
    name: 'edge_gateway_crawler_requests_total',
    help: 'Requests of crawlers that pages are rendered for, by owner, kind and verdict',
    labels: { owner: WORDS_MAX, kind: WORDS_MAX, verdict: WORDS_MAX, by: WORDS_MAX },
  },
  urlErrors: {
    name: 'edge_gateway_normalization_errors_total',
    help: 'URLs refused by normalization, by kind',
    labels: { kind: WORDS_MAX },
  },
  refreshes: {
    name: 'edge_gateway_refresh_jobs_total',
    help: 'Jobs of the refresh queue by reason, and how they ended or why they were not taken on',
    labels: { reason: WORDS_MAX, outcome: WORDS_MAX },
  },
  refreshQueue: {
    name: 'edge_gateway_refresh_queue_jobs',
    help: 'Jobs in the refresh queue: waiting, delayed, running; gateways on one Redis share them',
    labels: { state: WORDS_MAX },
  },
  storedEntries: {
    name: 'edge_gateway_stored_entries',
    help: 'Stored pages by host; a few seconds behind',
    labels: { host: CONFIGURED_MAX },
  },
  storedBytes: {
    name: 'edge_gateway_stored_bytes',
    help: 'Their metadata and bodies; a body that several pages share counts for each of them',
    labels: { host: CONFIGURED_MAX },
  },
  removed: {
    name: 'edge_gateway_removed_pages_total',
    help: 'What quota and sweep removed, by reason',
    labels: { reason: WORDS_MAX },
  },
  reloads: {
    name: 'edge_gateway_config_reloads_total',
    help: 'Reloads of the configuration: applied, or refused and the old one still in service',
    labels: { result: WORDS_MAX },
  },
  configSuccess: {
    name: 'edge_gateway_config_last_reload_successful',
    help: '1: the files that were last read are in service; 0: they were refused, older ones are',
    labels: {},
  },
  configTime: {
    name: 'edge_gateway_config_last_reload_success_timestamp_seconds',
    help: 'When the configuration in service was read',
    labels: {},
  },
  workers: {
    name: 'edge_gateway_workers',
    help: 'Processes that serve pages',
    labels: {},
  },
  workerEnds: {
    name: 'edge_gateway_worker_ends_total',
    help: 'Worker processes that ended: crashed, or replaced by a rolling restart',
    labels: { reason: WORDS_MAX },
  },
  memoryBytes: {
    name: 'edge_gateway_memory_bytes',
    help: 'What the pages held in memory take, of memory.max_bytes in each process',
    labels: {},
  },
  memoryPages: {
    name: 'edge_gateway_memory_pages',
    help: 'Pages held in memory',
    labels: {},
  },
  memoryHits: {
    name: 'edge_gateway_memory_hits_total',
    help: 'Look-ups answered from memory, without asking a store',
    labels: {},
  },
  sharedBodies: {
    name: 'edge_gateway_bodies_shared_total',
    help: 'Pages stored whose body another page of the host had already: kept once',
    labels: {},
  },
  refusals: {
    name: 'edge_gateway_refused_requests_total',
    help: 'Requests the door refused, by reason',
    labels: { reason: WORDS_MAX },
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

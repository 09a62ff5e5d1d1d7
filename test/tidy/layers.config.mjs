// The layer rules of src/, for dependency-cruiser: who may import whom, and which one folder owns
// which library. test/tidy/layers.test.ts proves that the rules see the modules and do refuse.

/** Folder → the folders it may import; only `compose`, which puts everything together, needs many. */
const LAYERS = {
  '^src/core/': ['^src/core/'],
  '^src/config/': ['^src/config/', '^src/core/'],
  '^src/pipeline/': ['^src/pipeline/', '^src/core/'],
  '^src/adapters/([^/]+)/': [
    '^src/adapters/$1/',
    '^src/core/',
    '^src/pipeline/((upkeep|origin|refresh)-)?ports[.]ts$',
  ],
  '^src/renderer/': ['^src/renderer/', '^src/core/', '^src/pipeline/ports[.]ts$'],
  '^src/server/': ['^src/server/', '^src/core/', '^src/pipeline/', '^src/config/'],
  '^src/compose/': ['^src/(adapters|compose|config|core|pipeline|renderer|server)/'],
  '^src/cli/': ['^src/cli/', '^src/core/', '^src/config/', '^src/pipeline/', '^src/compose/'],
  '^src/normalizer[.]ts$': ['^src/core/', '^src/config/', '^src/adapters/xxhash/'],
};

/** Library → the only folder that may import it. */
const OWNERS = {
  '@fastify/http-proxy': '^src/server/',
  bullmq: '^src/adapters/bullmq/',
  fastify: '^src/server/',
  'http-cache-semantics': '^src/core/http/shared-cache/',
  ioredis: '^src/adapters/(redis|bullmq)/',
  'js-yaml': '^src/config/',
  lmdb: '^src/adapters/embedded/',
  'lru-cache': '^src/pipeline/',
  picomatch: '^src/config/',
  pino: '^src/adapters/telemetry/',
  'playwright-core': '^src/renderer/',
  'prom-client': '^src/adapters/telemetry/',
  re2js: '^src/core/pattern/',
  typebox: '^src/config/',
  undici: '^src/adapters/',
  'xxhash-wasm': '^src/adapters/xxhash/',
};

const layers = Object.entries(LAYERS).map(([from, allowed]) => ({
  name: `layer ${from.split('/')[1].replace('[.]ts$', '')}`,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
}));

const owners = Object.entries(OWNERS).map(([library, owner]) => ({
  name: `owner of ${library}`,
  severity: 'error',
  from: { path: '^src/', pathNot: owner },
  to: { path: `^node_modules/${library}/` },
}));

export default {
  forbidden: [
    ...layers,
    ...owners,
    {
      name: 'core is pure',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'every library has an owner',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '^node_modules/',
        pathNot: [...Object.keys(OWNERS), '@types'].map((name) => `^node_modules/${name}/`),
      },
    },
    {
      name: 'no cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every import resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'src never imports test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};

// The product as it is shipped, `npm run build` before: the loader that runs TypeScript names every
// function anew each time it is made, which would be half of what is measured here.

type Hashers = typeof import('../../src/adapters/xxhash/create-hasher.ts');
type Loaders = typeof import('../../src/config/load-config.ts');
type Compilers = typeof import('../../src/config/compile-normalization.ts');
type Defaults = typeof import('../../src/config/load-defaults.ts');
type Deciders = typeof import('../../src/core/decision/create-decider.ts');
type Memos = typeof import('../../src/core/recent-map.ts');
type Limits = typeof import('../../src/core/limits.ts');
type Library = typeof import('../../src/normalizer.ts');

export async function loadBuilt(): Promise<
  Hashers & Compilers & Defaults & Deciders & Limits & Library & Loaders & Memos
> {
  const load = async (name: string): Promise<unknown> =>
    await import(new URL(`../../dist/${name}.js`, import.meta.url).href);
  const [hashers, compilers, defaults, deciders, limits, library, loaders, memos] =
    await Promise.all([
      load('adapters/xxhash/create-hasher') as Promise<Hashers>,
      load('config/compile-normalization') as Promise<Compilers>,
      load('config/load-defaults') as Promise<Defaults>,
      load('core/decision/create-decider') as Promise<Deciders>,
      load('core/limits') as Promise<Limits>,
      load('normalizer') as Promise<Library>,
      load('config/load-config') as Promise<Loaders>,
      load('core/recent-map') as Promise<Memos>,
    ]);
  const core = { ...deciders, ...limits, ...memos };
  return { ...hashers, ...compilers, ...defaults, ...core, ...library, ...loaders };
}

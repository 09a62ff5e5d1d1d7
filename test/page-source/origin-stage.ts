// The page source `origin` as every test of it makes it.
import { createOriginBalancer } from '../../src/adapters/origin/balance-origins.ts';
import { createOriginSource } from '../../src/adapters/origin/fill/create-origin-source.ts';
import type { PageSource } from '../../src/pipeline/ports.ts';
import { PAGE_BYTES_MAX } from './page-source.contract.ts';

export function createSource(): PageSource {
  return createOriginSource({
    balancer: createOriginBalancer({ now: Date.now }),
    pseudonym: 'edge-gateway-test1',
    pageBytesMax: PAGE_BYTES_MAX,
  });
}

// The fetcher on undici's pools, against the contract.
import { createOriginBalancer } from '../../src/adapters/origin/balance-origins.ts';
import { createOriginFetcher } from '../../src/adapters/origin/pass/create-origin-fetcher.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { testOriginFetcher } from './origin-fetcher.contract.ts';

testOriginFetcher(() =>
  createOriginFetcher({ balancer: createOriginBalancer(systemClock), pseudonym: 'gateway-test' }),
);

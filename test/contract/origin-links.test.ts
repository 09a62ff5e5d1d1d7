// The links on Node's sockets, against the contract.
import { keepLinks } from '../../src/adapters/origin/keep-links.ts';
import { testOriginLinks } from './origin-links.contract.ts';

testOriginLinks(keepLinks);

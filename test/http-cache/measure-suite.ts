// One run of the suite against a whole gateway. Its host says what answers without freshness are
// worth: nothing for a 200, which the suite wants fetched anew, an hour for the other statuses that
// RFC 9110 §15.1 lets a cache guess for. Cookies don't matter to it, since the suite's don't.
import { startTestGateway } from '../helpers/gateway.ts';
import { runSuite } from './run-suite.mjs';
import { startSuiteOrigin } from './suite-origin.mjs';

export type SuiteResult = Awaited<ReturnType<typeof runSuite>>[number];

export interface Measured {
  readonly results: readonly SuiteResult[];
  readonly failures: readonly SuiteResult[];
  readonly counts: { readonly required: number; readonly optimal: number };
}

export async function measureSuite(): Promise<Measured> {
  const origin = await startSuiteOrigin();
  const gateway = await startTestGateway({
    gateway: 'render: {engine: "off"}\nlog: {level: error}\n',
    hosts: `hosts:
  - id: 1
    domain: 127.0.0.1
    origin: "${origin.url}"
    scheme: http
    bypass:
      cache:
        enabled: true
        ttl: 1h
        status_codes: [203, 204, 404, 405, 410, 414, 501]
        cookies: ignore
`,
  });
  try {
    const results = await runSuite(`http://127.0.0.1:${gateway.port}`);
    const count = (kind: string): number =>
      results.filter((one) => one.kind === kind && one.verdict === 'pass').length;
    return {
      results,
      failures: results.filter(({ kind, verdict }) => kind !== 'check' && verdict !== 'pass'),
      counts: { required: count('required'), optimal: count('optimal') },
    };
  } finally {
    await gateway.close();
    await origin.close();
  }
}

// Purges under load: pages carry their version, and after a purge has answered no request sent from
// then on may get an older one, from whichever worker of whichever machine.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { percentile } from '../bench/report.ts';
import { type Shot, startLoad } from '../helpers/load.ts';
import { postPurge } from '../helpers/post-purge.ts';

/** A site whose pages say their path and their version. */
export interface VersionedSite {
  readonly url: string;
  /** The next version of a page, from now on. */
  readonly bump: (target: string) => number;
  readonly close: () => Promise<void>;
}

export async function startVersionedSite(): Promise<VersionedSite> {
  const versions = new Map<string, number>();
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    const body = `<h1>${target}</h1><b>${versions.get(target) ?? 0}</b>${'<p>words</p>'.repeat(50)}`;
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': body.length });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bump: (target) => {
      const version = (versions.get(target) ?? 0) + 1;
      versions.set(target, version);
      return version;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface PurgePlan {
  readonly ports: readonly number[];
  /** Any gateway of the store. */
  readonly adminPorts: readonly number[];
  readonly site: VersionedSite;
  readonly purges: number;
  readonly perSecond: number;
  readonly connections: number;
  /** Pages that are asked for and purged. */
  readonly targets: number;
  /** How a page is purged. */
  readonly order?: (target: string) => Readonly<Record<string, unknown>>;
}

export interface PurgeFigures {
  readonly purges: number;
  readonly requestsPerSecond: number;
  readonly hitShare: number;
  /** How long POST /purge took. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers to requests that were sent after the purge had answered, and were older. */
  readonly stale: readonly string[];
  readonly failed: readonly string[];
}

export async function runPurges(plan: PurgePlan): Promise<PurgeFigures> {
  const known = new Map<string, { version: number; since: number }>();
  const stale: string[] = [];
  const failed: string[] = [];
  const times: number[] = [];
  let hits = 0;
  const judge = ({ target, sentAt, body, status, head, port }: Shot): void => {
    if (/X-Render-Cache: hit/i.test(head)) hits += 1;
    if (status !== 200 || !body.includes(`<h1>${target}</h1>`)) {
      failed.push(`${port} ${target}: ${status}`);
      return;
    }
    const version = Number(/<b>(\d+)<\/b>/.exec(body)?.[1]);
    const due = known.get(target);
    if (due !== undefined && sentAt > due.since && version < due.version) {
      const lateMs = (sentAt - due.since).toFixed(1);
      stale.push(`${port} ${target}: version ${version} of ${due.version}, ${lateMs} ms later`);
    }
  };
  let asked = 0;
  const startedAt = performance.now();
  const load = startLoad({
    ports: plan.ports,
    connections: plan.connections,
    perSecond: plan.perSecond,
    next: () => {
      asked += 1;
      return targetOf(asked % plan.targets);
    },
    onShot: judge,
  });
  for (let index = 0; index < plan.purges; index += 1) {
    const target = targetOf((index * 3) % plan.targets);
    const version = plan.site.bump(target);
    const adminPort = plan.adminPorts[index % plan.adminPorts.length] ?? 0;
    const tookMs = await purge(adminPort, plan.order?.(target) ?? urlOrder(target), failed);
    times.push(tookMs);
    known.set(target, { version, since: performance.now() });
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { shots, failures } = await load.stop();
  return {
    purges: plan.purges,
    requestsPerSecond: shots / seconds,
    hitShare: hits / Math.max(1, shots),
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: percentile(times, 1),
    stale,
    failed: [...failed, ...failures],
  };
}

export function targetOf(index: number): string {
  return `/page/${index}`;
}

function urlOrder(target: string): Readonly<Record<string, unknown>> {
  return { url: `https://site.test${target}` };
}

async function purge(
  adminPort: number,
  order: Readonly<Record<string, unknown>>,
  failed: string[],
): Promise<number> {
  const beganAt = performance.now();
  const { status, answer } = await postPurge(adminPort, order);
  if (status !== 200) failed.push(`purge: ${status} ${JSON.stringify(answer)}`);
  return performance.now() - beganAt;
}

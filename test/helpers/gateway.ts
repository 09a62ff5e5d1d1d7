// A whole gateway for tests: real configuration files in a folder of its own, real sockets on free
// loopback ports, the real composition. In this process, so that its clock and log are at hand.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { startGateway } from '../../src/compose/start-gateway.ts';
import type { Clock } from '../../src/pipeline/ports.ts';

export interface TestGateway {
  readonly port: number;
  readonly adminPort: number;
  /** null: the pull endpoints are off. */
  readonly integrationPort: number | null;
  readonly folder: string;
  /** Log lines so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** Writes one of the two files anew; reading it is `reload`. */
  readonly write: (files: Partial<ConfigTexts>) => Promise<void>;
  readonly reload: () => Promise<boolean>;
  /** Stops it and keeps the folder, so that another can be started on the same store. */
  readonly stop: () => Promise<void>;
  /** Stops it and removes the folder. */
  readonly close: () => Promise<void>;
}

export interface ConfigTexts {
  /** edge-gateway.yaml, without `server.listen`, `admin.listen`, `storage.base_path`. */
  readonly gateway: string;
  readonly hosts: string;
}

export interface TestGatewayOptions extends ConfigTexts {
  /** A folder of a stopped gateway, to start again on its store. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** `address:port`, by which crawlers are verified. */
  readonly nameServers?: readonly string[];
}

/** Keys every test gateway has; a test's own text follows and must not repeat their blocks. */
const BASE = `admin: {listen: "127.0.0.1:0"}
hosts: {include: hosts.yaml}
`;

/** Starts a gateway; throws with its diagnostics when it does not start. */
export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'edge-gateway-test-')));
  const file = join(folder, 'edge-gateway.yaml');
  const write = async ({ gateway, hosts }: Partial<ConfigTexts>): Promise<void> => {
    if (gateway !== undefined) await writeFile(file, BASE + withStorage(withListen(gateway)));
    if (hosts !== undefined) await writeFile(join(folder, 'hosts.yaml'), hosts);
  };
  await write(options);
  const log: Readonly<Record<string, unknown>>[] = [];
  let complaints = '';
  const gateway = await startGateway({
    file,
    env: options.env ?? {},
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.nameServers === undefined ? {} : { nameServers: options.nameServers }),
    stdout: collect((text) => {
      for (const line of text.split('\n')) if (line !== '') log.push(JSON.parse(line));
    }),
    stderr: collect((text) => {
      complaints += text;
    }),
  });
  if (gateway === null) throw new Error(`the test gateway did not start:\n${complaints}`);
  return {
    port: gateway.port,
    adminPort: gateway.adminPort,
    integrationPort: gateway.integrationPort,
    folder,
    log,
    write,
    reload: gateway.reload,
    stop: gateway.stop,
    close: async () => {
      await gateway.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A test's `server:` and `storage:` blocks keep their other keys. */
function withListen(text: string): string {
  return /^server:/m.test(text)
    ? text.replace(/^server:\n/m, 'server:\n  listen: "127.0.0.1:0"\n')
    : `server: {listen: "127.0.0.1:0"}\n${text}`;
}

function withStorage(text: string): string {
  return /^storage:/m.test(text)
    ? text.replace(/^storage:\n/m, 'storage:\n  base_path: ./data\n')
    : `storage: {base_path: ./data}\n${text}`;
}

function collect(take: (text: string) => void): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      take(chunk.toString('utf8'));
      done();
    },
  });
}

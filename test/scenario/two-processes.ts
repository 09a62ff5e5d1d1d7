// Two gateways on one embedded store: one in this process, and one that is started in earnest. Both
// end with the test.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { startTestGateway } from '../helpers/gateway.ts';
import { type LogLine, startGatewayProcess } from './gateway-process.ts';
import { hostsText } from './stage.ts';

export interface ServingProcess {
  readonly port: number;
  readonly adminPort: number;
  /** Log lines so far, parsed. */
  readonly log: readonly LogLine[];
}

export interface TwoProcesses {
  readonly here: ServingProcess;
  readonly there: ServingProcess;
  /** A configuration file of the store, for commands. */
  readonly file: string;
}

export interface TwoProcessesOptions {
  /** Keys of the one host. */
  readonly host?: string;
  /** More of edge-gateway.yaml, for the gateway in this process alone. */
  readonly gatewayHere?: string;
}

export async function startTwoProcesses(
  originUrl: string,
  { host = '', gatewayHere = '' }: TwoProcessesOptions = {},
): Promise<TwoProcesses> {
  const render = 'render: {engine: origin, cache: {jitter: 0}}\n';
  const hosts = hostsText(originUrl, { host });
  const here = await startTestGateway({ gateway: render + gatewayHere, hosts });
  onTestFinished(here.close);
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-second-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const adminPort = await findFreePort();
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(join(folder, 'hosts.yaml'), hosts);
  await writeFile(
    file,
    `server: {listen: "127.0.0.1:0"}
admin: {listen: "127.0.0.1:${adminPort}"}
storage: {base_path: "${join(here.folder, 'data')}"}
hosts: {include: hosts.yaml}
${render}`,
  );
  const there = await startGatewayProcess(file);
  onTestFinished(async () => void (await there.stop()));
  return { here, there: { port: there.port, adminPort, log: there.log }, file };
}

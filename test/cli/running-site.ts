// A gateway of one process over an origin, with a host a file and an admin listener that its
// configuration names: for commands that ask it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { startGateway } from '../../src/compose/start-gateway.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { type Answer, type RawOrigin, startRawOrigin } from '../helpers/raw-origin.ts';
import { hostsText } from '../scenario/stage.ts';
import { type CommandInput, type CommandResult, runCommand } from './run-command.ts';

export interface RunningSite {
  readonly origin: RawOrigin;
  readonly adminPort: number;
  /** Its edge-gateway.yaml. */
  readonly file: string;
  readonly run: (argv: readonly string[], input?: CommandInput) => Promise<CommandResult>;
  /** A file beside that of the host `site.test`. */
  readonly writeHost: (name: string, text: string) => Promise<void>;
  /** More lines of edge-gateway.yaml. */
  readonly writeGateway: (text: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface RunningSiteOptions {
  readonly answer: Answer;
  readonly token?: string;
  /** More of the block `render`, such as `, timeout: 1s`. */
  readonly render?: string;
}

const DIMENSIONS = 'dimensions: {crawlers: {id: 1, action: render, match_ua: ["*Googlebot*"]}}\n';

/** Ends with the test. */
export async function startRunningSite(options: RunningSiteOptions): Promise<RunningSite> {
  const origin = await startRawOrigin({ answer: options.answer });
  onTestFinished(origin.close);
  const adminPort = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-site-'));
  const file = join(folder, 'edge-gateway.yaml');
  const writeHost = (name: string, text: string): Promise<void> =>
    writeFile(join(folder, `${name}.hosts.yaml`), text);
  const secret = options.token === undefined ? '' : `, token: ${options.token}`;
  const base = `admin: {listen: "127.0.0.1:${adminPort}"${secret}}
server: {listen: "127.0.0.1:0", watch_config: false}
${DIMENSIONS}render: {engine: origin${options.render ?? ''}}
hosts: {include: "*.hosts.yaml"}
`;
  const writeGateway = (text: string): Promise<void> => writeFile(file, base + text);
  await writeGateway('');
  await writeHost('site', hostsText(origin.url));
  let complaints = '';
  const gateway = await startGateway({
    file,
    env: {},
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        complaints += chunk.toString();
        done();
      },
    }),
  });
  if (gateway === null) throw new Error(complaints);
  onTestFinished(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });
  return {
    origin,
    adminPort,
    file,
    run: (argv, input) => runCommand([...argv, '-c', file], input),
    writeHost,
    writeGateway,
    stop: gateway.stop,
  };
}

// The place where the README's sessions run: a gateway in front of the demo site, as `npm start`
// makes them, on free ports. `curl` and `edge-gateway` are wrapped, so that the addresses of the
// text lead there, and keys and hashes are the very ones that are printed in it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startDemoSite } from '../demo-site/site.ts';
import { startTestGateway } from '../helpers/gateway.ts';
import { PROGRAM } from '../helpers/program.ts';
import { readFile } from '../tidy/files.ts';

export interface TourShell {
  /** Runs one command line; answers what it printed, both streams together, line by line. */
  readonly run: (command: string) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

const PRELUDE = `
curl() {
  command curl --connect-to "localhost:8080:127.0.0.1:$GATEWAY_PORT" \
    --connect-to "localhost:9090:127.0.0.1:$ADMIN_PORT" --max-time 25 "$@"
}
edge-gateway() {
  case "$1" in
    check | normalize) "$NODE" "$PROGRAM" "$@" ;;
    *) "$NODE" "$PROGRAM" "$@" -c "$CONFIG" ;;
  esac
}
`;

/** The text's folder for files of one's own; here it is one that nobody else has. */
const TEXT_FOLDER = '/tmp/site';

/** Starts both; `close` ends them. */
export async function openTourShell(): Promise<TourShell> {
  const site = await startDemoSite();
  const siteEnv = { DEMO_SITE_PORT: String(site.port) };
  const gateway = await startTestGateway({
    gateway: 'render: { engine: origin }\n',
    hosts: readFile('hosts.yaml'),
    env: siteEnv,
  });
  const folder = join(gateway.folder, 'site');
  const env = {
    ...process.env,
    ...siteEnv,
    NODE: process.execPath,
    PROGRAM,
    CONFIG: join(gateway.folder, 'edge-gateway.yaml'),
    GATEWAY_PORT: String(gateway.port),
    ADMIN_PORT: String(gateway.adminPort),
  };
  return {
    run: async (command) => {
      const line = command.replaceAll(TEXT_FOLDER, folder);
      const child = spawn('bash', ['-c', `${PRELUDE}{ ${line}\n} 2>&1`], { env });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      await once(child, 'close');
      return output.replaceAll(folder, TEXT_FOLDER).trimEnd().split(/\r?\n/);
    },
    close: async () => {
      await gateway.close();
      await site.close();
    },
  };
}

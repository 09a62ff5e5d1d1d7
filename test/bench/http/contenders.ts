// The servers that are compared, each configured as one would in earnest: a cache in front of the
// same site, one process on core 0, every request logged to a file.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../helpers/free-port.ts';
import { type Server, startPinned } from './pinned.ts';
import { nginxUser } from './site.ts';

export interface Setting {
  /** A folder of its own for each server is made in it. */
  readonly folder: string;
  readonly sitePort: number;
}

/** `hit`: answered from the cache. `bypass`: passed on. */
export type Mode = 'hit' | 'bypass';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** What a gateway of the benches may differ in. */
export interface GatewayFiles {
  /** Of its folder; absent: `edge-gateway`. */
  readonly name?: string;
  /** `hosts.yaml`; absent: the one host that is asked for. */
  readonly hosts?: string;
}

export interface GatewayPlace {
  readonly file: string;
  readonly folder: string;
  readonly port: number;
}

export async function startEdgeGateway(setting: Setting): Promise<Server> {
  return await startGatewayOf('edge-gateway', await writeGateway(setting));
}

/** Writes the configuration of a gateway with everything on, in a folder of its own. */
export async function writeGateway(
  setting: Setting,
  { name = 'edge-gateway', hosts = `hosts:\n${benchHost(setting)}` }: GatewayFiles = {},
): Promise<GatewayPlace> {
  const folder = await makeFolder(setting, name);
  const port = await findFreePort();
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(join(folder, 'hosts.yaml'), hosts);
  await writeFile(
    file,
    [
      `server: {listen: "127.0.0.1:${port}", workers: 1}`,
      `admin: {listen: "127.0.0.1:${await findFreePort()}"}`,
      'storage: {base_path: ./data}',
      'render: {engine: origin}',
      '',
    ].join('\n'),
  );
  return { file, folder, port };
}

/** The host that the load asks for, as the lines of `hosts.yaml`; more keys may follow them. */
export function benchHost({ sitePort }: Setting): string {
  return `  - id: 1\n    domain: bench.test\n    origin: "http://127.0.0.1:${sitePort}"\n`;
}

/** Starts it from `dist`, its log going to the file `log` of its folder. */
export async function startGatewayOf(name: string, place: GatewayPlace): Promise<Server> {
  const { file, folder, port } = place;
  const script = `exec "$0" "$1" serve -c "$2" >> "$3"`;
  const command = ['sh', '-c', script, process.execPath, MAIN, file, join(folder, 'log')];
  return await startPinned(name, command, { core: 0, port });
}

export async function startNginx(setting: Setting, mode: Mode): Promise<Server> {
  const folder = await makeFolder(setting, 'nginx');
  const port = await findFreePort();
  const cache =
    mode === 'hit'
      ? 'proxy_cache pages; proxy_cache_lock on; proxy_cache_use_stale updating error;'
      : '';
  const text = `${nginxUser()} daemon off; worker_processes 1; pid ${folder}/pid;
events { worker_connections 4096; }
http {
  log_format json escape=json '{"time":"$time_iso8601","client":"$remote_addr","method":"$request_method","url":"$request_uri","status":$status,"bytes":$bytes_sent,"ms":$request_time,"cache":"$upstream_cache_status","agent":"$http_user_agent"}';
  access_log ${folder}/access.log json buffer=64k flush=1s;
  sendfile on; tcp_nopush on; keepalive_requests 1000000;
  open_file_cache max=1000 inactive=60s;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:10m inactive=1h use_temp_path=off;
  upstream site { server 127.0.0.1:${setting.sitePort}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://site; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr;
      ${cache}
    }
  }
}
`;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, text);
  const command = ['nginx', '-p', folder, '-e', 'stderr', '-c', file];
  return await startPinned('nginx', command, { core: 0, port });
}

export async function startVarnish(setting: Setting, mode: Mode): Promise<Server> {
  const folder = await makeFolder(setting, 'varnish');
  const port = await findFreePort();
  const file = join(folder, 'site.vcl');
  const pass = mode === 'bypass' ? 'sub vcl_recv { return (pass); }' : '';
  await writeFile(
    file,
    `vcl 4.1; backend site { .host = "127.0.0.1"; .port = "${setting.sitePort}"; } ${pass}`,
  );
  // br as the site sends it: Varnish itself knows gzip only.
  const daemon = `varnishd -j none -F -n "$0" -a 127.0.0.1:${port} -f "$1" -s malloc,256m -p http_gzip_support=off -p thread_pools=1`;
  const log = `varnishncsa -n "$0" -t 30 -w "$2"`;
  const script = `${daemon} & P=$!; ${log} & L=$!; trap 'kill $L $P; wait' TERM; wait`;
  return await startPinned(
    'varnish',
    ['sh', '-c', script, join(folder, 'run'), file, join(folder, 'access.log')],
    {
      core: 0,
      port,
    },
  );
}

/** No server to choose: what one can be on Node at best. */
export async function startBareNode({ sitePort }: Setting, mode: Mode): Promise<Server> {
  const script = fileURLToPath(new URL('bare-node.mjs', import.meta.url));
  const port = await findFreePort();
  const command = [process.execPath, script, mode, String(port), String(sitePort)];
  return await startPinned('bare Node', command, { core: 0, port });
}

async function makeFolder({ folder }: Setting, name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  return path;
}

// `edge-gateway render-service`: a renderer alone, for other machines or as a gateway's child.
import process from 'node:process';
import { type RendererPlace, serveRenderer } from '../../compose/serve-renderer.ts';
import { parseListen } from '../../config/values/parse-listen.ts';
import {
  CONFIG_OPTION,
  type Command,
  DEFAULT_CONFIG_FILE,
  hasOption,
  type ParsedArguments,
  refuseUsage,
  textOption,
} from '../command.ts';

type Tell = NonNullable<RendererPlace['tell']>;

const DEFAULT_LISTEN = '127.0.0.1:10080';

export const renderServiceCommand: Command = {
  name: 'render-service',
  usage: '[-c FILE] [--listen ADDRESS | --socket PATH]',
  takesWords: false,
  summary:
    'run a renderer alone, for the hosts of its own files; saving one, or SIGHUP, reloads them',
  options: {
    config: CONFIG_OPTION,
    listen: {
      type: 'string',
      help: `ADDRESS  (default: ${DEFAULT_LISTEN}); others than loopback need render.service.token`,
    },
    socket: { type: 'string', help: 'PATH  a socket file instead of an address' },
    via: { type: 'string', help: 'NAME  our name in Via (default: one of its own)' },
    'with-parent': {
      type: 'boolean',
      help: 'end when standard input ends; a socket then needs no token',
    },
  },
  run: async (args, io) => {
    const listen = parseListenOptions(args);
    if (listen === null) return refuseUsage(io, '--listen takes an address like 127.0.0.1:10080');
    const file = textOption(args, 'config', DEFAULT_CONFIG_FILE);
    const { env, stdout, stderr } = io;
    const via = args.values['via'];
    const pseudonym = typeof via === 'string' ? via : null;
    const isChild = hasOption(args, 'with-parent');
    // The parent alone knows the socket that it has named.
    const needsToken = !(isChild && 'path' in listen);
    const tell = isChild && process.send !== undefined ? tellParent : null;
    const place = { listen, pseudonym, needsToken, tell };
    const starting = serveRenderer({ file, env, stdout, stderr }, place);
    // Heard from the beginning: what comes too early waits instead of ending the process.
    const reload = (): void => void starting.then((renderer) => renderer?.reload());
    process.on('SIGHUP', reload);
    const told = untilToldToStop(isChild ? io.stdin : null);
    const renderer = await starting;
    if (renderer === null) return 1;
    await told;
    process.off('SIGHUP', reload);
    await renderer.stop();
    // The pipe from the parent would keep this process for as long as the parent holds it.
    io.stdin.destroy();
    return 0;
  },
};

function parseListenOptions(args: ParsedArguments) {
  const path = args.values['socket'];
  if (typeof path === 'string') return { path };
  const listen = parseListen(textOption(args, 'listen', DEFAULT_LISTEN));
  return listen.ok ? listen.value : null;
}

/** Over the pipe that Node opens where the parent wants one; one that is gone hears nothing. */
function tellParent(word: Parameters<Tell>[0]): void {
  process.send?.(word, undefined, {}, () => undefined);
}

/** SIGTERM, SIGINT, or the end of the pipe from a parent that may have been killed. */
async function untilToldToStop(parent: NodeJS.ReadableStream | null): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = (): void => resolve();
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    parent?.once('end', stop);
    parent?.once('close', stop);
    parent?.resume();
  });
}

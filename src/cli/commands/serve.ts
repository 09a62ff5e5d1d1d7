// `edge-gateway serve`: runs the gateway until SIGTERM or SIGINT; SIGHUP reloads.
import { startGateway } from '../../compose/start-gateway.ts';
import { CONFIG_OPTION, type Command, DEFAULT_CONFIG_FILE, textOption } from '../command.ts';

export const serveCommand: Command = {
  name: 'serve',
  usage: '[-c FILE]',
  summary: 'run the gateway',
  options: { config: CONFIG_OPTION },
  run: async (args, io) => {
    const file = textOption(args, 'config', DEFAULT_CONFIG_FILE);
    const started = await startGateway({ file, env: io.env, stderr: io.stderr, stdout: io.stdout });
    if (started === null) return 1;
    return (await started.stopped) === 'orderly' ? 0 : 1;
  },
};

// `edge-gateway serve`: runs the gateway until SIGTERM or SIGINT; SIGHUP reloads, SIGUSR2 reloads
// and replaces the workers.
import process from 'node:process';
import { startGateway } from '../../compose/start-gateway.ts';
import { CONFIG_OPTION, type Command, DEFAULT_CONFIG_FILE, textOption } from '../command.ts';

export const serveCommand: Command = {
  name: 'serve',
  usage: '[-c FILE]',
  takesWords: false,
  summary: 'run the gateway; SIGHUP reloads, SIGUSR2 renews the workers, SIGTERM stops',
  options: { config: CONFIG_OPTION },
  run: async (args, io) => {
    const file = textOption(args, 'config', DEFAULT_CONFIG_FILE);
    const { env, stdout, stderr } = io;
    const starting = startGateway({ file, env, stdout, stderr, forks: true });
    // Heard from the beginning: what comes too early waits instead of ending the process.
    const reload = (): void => void starting.then((gateway) => gateway?.reload());
    const restart = (): void => void starting.then((gateway) => gateway?.restart('SIGUSR2'));
    // A terminal's Ctrl-C and a supervisor's SIGTERM may both come: twice is once.
    const stop = (): void => void starting.then((gateway) => gateway?.stop());
    process.on('SIGHUP', reload);
    process.on('SIGUSR2', restart);
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    const gateway = await starting;
    if (gateway === null) return 1;
    await gateway.stopped;
    process.off('SIGHUP', reload);
    process.off('SIGUSR2', restart);
    return 0;
  },
};

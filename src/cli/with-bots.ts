// Lends a command what verifies crawlers, and closes it again.
import { type Bots, openBots } from '../compose/open-bots.ts';
import type { Settings } from '../config/settings.ts';
import type { CommandIo } from './command.ts';

export async function withBots<T>(
  settings: Settings,
  io: CommandIo,
  use: (bots: Bots) => Promise<T>,
): Promise<T> {
  const bots = await openBots(settings, {
    onProblem: (file, reason) => io.stderr.write(`edge-gateway: ${file}: ${reason}\n`),
    onDefect: (error) => {
      throw error;
    },
  });
  try {
    return await use(bots);
  } finally {
    bots.close();
  }
}

// Clients that ask one request after another and forgive nothing: each reset, refusal, timeout and
// other status counts as a failure, since none of them asks twice. Some keep their connection for
// as long as the server lets them, some open a new one for each request.
import { Agent, request } from 'node:http';

export interface SteadyClients {
  /** Answers that came whole and right. */
  readonly answered: () => number;
  readonly failures: readonly string[];
  /** Waits for what is under way. */
  readonly stop: () => Promise<void>;
}

export interface ClientLoad {
  readonly port: number;
  readonly keepAlive: number;
  readonly newConnections: number;
  /** Of the next request. */
  readonly target: () => string;
  readonly userAgent: string;
  readonly isRight: (answer: ClientAnswer) => boolean;
  readonly timeoutMs?: number;
}

export interface ClientAnswer {
  readonly target: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const TIMEOUT_MS = 15_000;

export function startClients(load: ClientLoad): SteadyClients {
  const failures: string[] = [];
  let answered = 0;
  let isOver = false;

  const runOne = async (keepsConnection: boolean): Promise<void> => {
    const agent = new Agent({ keepAlive: keepsConnection, maxSockets: 1 });
    while (!isOver) {
      const target = load.target();
      try {
        const answer = await ask(load, target, agent);
        if (load.isRight(answer)) answered += 1;
        else failures.push(`${target}: ${answer.status} ${answer.body.slice(0, 80)}`);
      } catch (cause) {
        failures.push(`${target}: ${cause instanceof Error ? cause.message : String(cause)}`);
      }
    }
    agent.destroy();
  };

  const running = [
    ...Array.from({ length: load.keepAlive }, () => runOne(true)),
    ...Array.from({ length: load.newConnections }, () => runOne(false)),
  ];
  return {
    answered: () => answered,
    failures,
    stop: async () => {
      isOver = true;
      await Promise.all(running);
    },
  };
}

async function ask(load: ClientLoad, path: string, agent: Agent): Promise<ClientAnswer> {
  const headers = { host: 'site.test', 'user-agent': load.userAgent };
  return await new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: load.port,
        path,
        headers,
        agent,
        timeout: load.timeoutMs ?? TIMEOUT_MS,
      },
      (response) => {
        let body = '';
        response.setEncoding('latin1').on('data', (text: string) => {
          body += text;
        });
        response.once('error', reject);
        response.once('end', () => {
          const { statusCode: status = 0, headers: fields } = response;
          if (response.complete) resolve({ target: path, status, headers: fields, body });
          else reject(new Error('the answer was cut'));
        });
      },
    );
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', reject);
    sent.end();
  });
}

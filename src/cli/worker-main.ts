// The program of a worker process, forked by `serve`; never started by hand.
import process from 'node:process';
import { startWorker } from '../compose/workers/start-worker.ts';
import { watchStandardOutput } from './watch-standard-output.ts';

watchStandardOutput();
const { env, stdout, stderr } = process;
await startWorker({ env, stdout, stderr });

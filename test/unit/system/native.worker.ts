/** Run in a worker thread by native-threads.test.ts: calls of every kind, all the while the main thread does the same. */

import { parentPort, workerData } from 'node:worker_threads';
import { callsOfEveryKind } from './calls-of-every-kind.ts';

const report = (message: unknown): void => parentPort?.postMessage(message, []);

process.on('warning', (warning) => report({ warning: String(warning) }));
report({ rounds: callsOfEveryKind(String(workerData), 3000) });

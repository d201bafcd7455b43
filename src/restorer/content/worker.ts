/** Entry file of a worker thread: carries out the jobs it is sent. */

import { parentPort, workerData } from 'node:worker_threads';
import { BugError } from '../../base/errors.ts';
import { JobRunner } from './job-runner.ts';
import type { FatalMessage, FromWorker, Job, ToWorker, WorkerSetup } from './messages.ts';

const port = parentPort;
if (port === null) throw new BugError('The restore worker was started outside of a worker thread');
const setup: WorkerSetup = workerData;
const stop = new Int32Array(setup.stop);
const runner = new JobRunner(setup);

port.on('message', (message: ToWorker) => {
  if (message.kind === 'close') {
    runner.close();
    port.close();
  } else if (Atomics.load(stop, 0) === 0) {
    port.postMessage(answer(message));
  }
});

function answer(job: Job): FromWorker {
  try {
    return runner.run(job);
  } catch (error) {
    return fatal(error);
  }
}

function fatal(error: unknown): FatalMessage {
  const shown = error instanceof Error ? error : new Error(String(error));
  return { kind: 'fatal', message: shown.message, stack: shown.stack ?? '' };
}

/** Entry file of a check's worker thread: examines the packs that are posted to it. */

import { parentPort, workerData } from 'node:worker_threads';
import { BugError } from '../../base/errors.ts';
import { ObjectKeys } from '../../codec/keys.ts';
import { PackExaminer } from './check-pack.ts';
import type { CheckWorkerSetup, ToCheckWorker } from './check-pool.ts';

const port = parentPort;
if (port === null) throw new BugError('The check worker was started outside of a worker thread');
const setup: CheckWorkerSetup = workerData;
const examiner = new PackExaminer(new ObjectKeys(setup.keys), setup.salts);

port.on('message', (message: ToCheckWorker) => {
  if (message === 'end') {
    port.close();
    return;
  }
  const { name, bytes } = message;
  const result = examiner.examine(name, Buffer.from(bytes), undefined);
  // Frees the pack's memory at once; otherwise several packs pile up until garbage collection. Not available before Node 21.
  if ('transfer' in bytes) bytes.transfer(0);
  port.postMessage(result);
});

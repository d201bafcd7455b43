/**
 * The worker thread behind `prepareEmbedded`: opens or makes the embedded repository and posts the outcome. Its data is
 * the environment.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { DestinationError, HoldfastError } from '../../base/errors.ts';
import { openEmbedded } from './embedded.ts';
import type { EmbeddedFailure, FromEmbedded } from './embedded-thread.ts';

const stopped = new AbortController();
parentPort?.once('message', () => stopped.abort());
parentPort?.postMessage(await work(), []);

async function work(): Promise<FromEmbedded> {
  try {
    const env = workerData as NodeJS.ProcessEnv;
    const { repository, created } = await openEmbedded({ env, clock: systemClock, signal: stopped.signal });
    await repository.close();
    return { created };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): EmbeddedFailure {
  if (!(error instanceof HoldfastError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { side: 'bug', code: '', kind: '', message, facts: {} };
  }
  const { side, code, message, op, hint, details, retry } = error;
  const kind = error instanceof DestinationError ? error.kind : '';
  return { side, code, kind, message, facts: { op, hint, details, retry } };
}

/** Entry file of the thread that brings the catalog up to date: one run, then it ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { BugError, RepositoryError } from '../base/errors.ts';
import { openDestination } from '../destination/open.ts';
import type { Secret } from '../repository/key-slots.ts';
import { openRepository, type Repository } from '../repository/repository.ts';
import { emptyLog, openForWriting } from './catalog-database.ts';
import { failureOf, type FromSync, type RepositoryAccess, type SyncSetup } from './messages.ts';
import { syncCatalog, type SyncProgress, type SyncReport } from './sync.ts';

const port = parentPort;
if (port === null) throw new BugError('The catalog was started outside of a worker thread');
const setup: SyncSetup = workerData;
const stop = new AbortController();
/** Milliseconds between two messages about progress. */
const PROGRESS_EVERY = 500;
let toldAt = 0;

port.once('message', () => stop.abort());
try {
  post({ kind: 'done', report: await run(setup, stop.signal) });
} catch (error) {
  post({ kind: 'failed', failure: failureOf(error) });
}
port.close();

async function run({ path, repositoryId, access }: SyncSetup, signal: AbortSignal): Promise<SyncReport> {
  const repository = await openAs(access, repositoryId, signal);
  try {
    const database = openForWriting(path);
    try {
      const report = await syncCatalog(database, repository, tell, signal);
      emptyLog(database);
      return report;
    } finally {
      database.close();
    }
  } finally {
    await repository.close();
  }
}

/** Reads only: without a state directory nothing is remembered of it, and nobody waits for a lock. */
async function openAs(
  { url, access, person, secret }: RepositoryAccess,
  repositoryId: string,
  signal: AbortSignal,
): Promise<Repository> {
  const destination = await openDestination(url, { access, person });
  try {
    const options = { clock: systemClock, stateDirectory: undefined };
    const repository = await openRepository(destination, secretOf(secret), options, signal);
    if (repository.id === repositoryId) return repository;
    throw new RepositoryError('REFUSED', `There is another repository at ${destination.properties.url} now`, {
      hint: 'Check the location of the destination.',
      details: { expected: repositoryId, found: repository.id },
    });
  } catch (error) {
    await destination.close();
    throw error;
  }
}

function secretOf(secret: RepositoryAccess['secret']): Secret {
  if (secret.kind === 'passphrase') return secret;
  return { kind: 'machine', secret: Buffer.from(secret.base64, 'base64') };
}

function tell(progress: SyncProgress): void {
  const now = systemClock.monotonic();
  if (now - toldAt < PROGRESS_EVERY) return;
  toldAt = now;
  post({ kind: 'progress', progress });
}

function post(message: FromSync): void {
  port?.postMessage(message);
}

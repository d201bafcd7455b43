/** Entry file of the thread that brings the catalog up to date. It ends after one run. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { BugError, RepositoryError } from '../base/errors.ts';
import { openCached, openLook } from '../cache/open.ts';
import { openDestination } from '../destination/open/open.ts';
import { openRepository } from '../repository/opening.ts';
import type { Repository } from '../repository/repository.ts';
import { secretHanded } from '../repository/slots/typed-secret.ts';
import { emptyLog, openForWriting } from './tables/catalog-database.ts';
import { failureOf, type FromSync, type SyncSetup } from './messages.ts';
import { syncCatalog, type SyncProgress, type SyncReport } from './ingest/sync.ts';

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

async function run(setup: SyncSetup, signal: AbortSignal): Promise<SyncReport> {
  const { path, stateDirectory } = setup;
  const opened = await openAs(setup, signal);
  const cached = openCached(opened, stateDirectory, systemClock);
  const { repository } = cached;
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
    cached.close();
    await repository.close();
  }
}

/** Opens the repository for reading only. It takes no lock, and leaves nothing in the state directory but copies of metadata. */
async function openAs(
  { access: { url, access, person, secret }, repositoryId, stateDirectory, allowWeakCost }: SyncSetup,
  signal: AbortSignal,
): Promise<Repository> {
  const destination = await openDestination(url, { access, person }, signal);
  try {
    const look = openLook(destination, url, 'page', stateDirectory);
    const repository = await openRepository(
      look?.destination ?? destination,
      secretHanded(secret),
      { clock: systemClock, stateDirectory: undefined, look, allowWeakCost },
      signal,
    );
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

function tell(progress: SyncProgress): void {
  const now = systemClock.monotonic();
  if (now - toldAt < PROGRESS_EVERY) return;
  toldAt = now;
  post({ kind: 'progress', progress });
}

function post(message: FromSync): void {
  port?.postMessage(message);
}

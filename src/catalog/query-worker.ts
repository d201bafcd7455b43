/** Entry file of the thread that answers questions about the catalog. */
import { parentPort, workerData } from 'node:worker_threads';
import { BugError } from '../base/errors.ts';
import { CatalogReader } from './answers/catalog-reader.ts';
import { failureOf, type FromQuery, type QuerySetup, type Question, type ToQuery } from './messages.ts';

const port = parentPort;
if (port === null) throw new BugError('The catalog was started outside of a worker thread');
const { path }: QuerySetup = workerData;
let reader: CatalogReader | undefined;

port.on('message', (message: ToQuery) => {
  if (message === 'end') {
    reader?.close();
    port.close();
    return;
  }
  const { number, question } = message;
  let reply: FromQuery;
  try {
    reader ??= new CatalogReader(path);
    reply = { number, answer: answerTo(reader, question) };
  } catch (error) {
    reply = { number, failure: failureOf(error) };
  }
  port.postMessage(reply);
});

function answerTo(from: CatalogReader, question: Question): unknown {
  switch (question.kind) {
    case 'files':
      return from.files(question.query, question.chosen);
    case 'chosen':
      return from.chosen(question.choice);
    case 'entry':
      return from.entry(question.snapshot, question.path, question.leadsTo);
    case 'entries':
      return from.entries(question.request);
    case 'search':
      return from.search(question.request);
    case 'newest_of':
      return from.newestOf(question.paths, question.source);
    case 'states':
      return from.states(question.path, question.source, question.leadsTo);
    case 'diff':
      return from.diff(question.request);
    case 'snapshots':
      return from.snapshots(question.request);
    case 'newest':
      return from.newest(question.request);
    case 'snapshot':
      return from.snapshot(question.id);
    case 'snapshot_of_backup':
      return from.snapshotOfBackup(question.backupId);
    case 'holdings':
      return from.holdings();
    case 'forgetting':
      return from.forgetting(question.request);
    case 'open':
      return undefined;
  }
}

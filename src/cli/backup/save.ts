/** Runs a backup for the commands `backup` and `start --once`, and shows its progress and problems. */
import type { ArchiveRequest } from '../../archiver/archive-request.ts';
import { archive, type ArchiveSummary } from '../../archiver/archive.ts';
import { estimate } from '../../archiver/estimate.ts';
import { madeHere, type MadeHere } from '../../archiver/snapshot-record.ts';
import type { ArchiveObserver } from '../../archiver/report/observer.ts';
import { archiveStream, type StreamInput, type StreamRequest } from '../../archiver/stream.ts';
import { type ExpectedTotals, startSizeScan } from '../../archiver/walk/size-scan.ts';
import type { ByteString } from '../../base/byte-path.ts';
import { extendProtection, protectionWarning } from '../../repository/protection.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import { openProgress, progressMode } from '../command/open-progress.ts';
import type { OutputOptions } from '../command/options.ts';
import { pathFields } from '../snapshots/listing.ts';
import { jsonLine, printable } from '../terminal/terminal.ts';
import { watchArchive } from './archive-progress.ts';
import { showEstimated } from './save-summary.ts';

/** Fields that this module fills in for every request. */
type OwnFacts = 'host' | 'user' | 'tool';

interface GivenHost {
  /** Default: the name of this machine. */
  readonly host?: string | undefined;
}

export type SaveRequest = Omit<ArchiveRequest, OwnFacts> & GivenHost;

export interface SaveOptions extends OutputOptions {
  readonly notes: readonly string[];
}

/** Backs files up and shows the progress. The caller shows the summary. */
export async function save(
  request: SaveRequest,
  options: SaveOptions,
  context: Context,
): Promise<ArchiveSummary> {
  const { sources, exclude } = request;
  const watched = progressMode(options, context) === 'terminal';
  const scan = watched ? startSizeScan({ sources, exclude }) : undefined;
  try {
    return await withProgress(
      { ...options, sources },
      () => scan?.totals,
      context,
      async (observer) => await archive({ ...request, ...ownFacts(request) }, observer, context.signal),
    );
  } finally {
    await scan?.stop();
  }
}

/** The same for the content of a stream. */
export async function saveStream(
  request: Omit<StreamRequest, OwnFacts> & GivenHost,
  input: StreamInput,
  options: OutputOptions,
  context: Context,
): Promise<ArchiveSummary> {
  const noTotals = (): undefined => undefined;
  return await withProgress({ ...options, notes: [], sources: [] }, noTotals, context, async (observer) => {
    return await archiveStream({ ...request, ...ownFacts(request) }, input, observer, context.signal);
  });
}

/** The dry run of `save`: what would be in the snapshot, and how much of it would be read. */
export async function showEstimate(
  request: SaveRequest,
  options: SaveOptions,
  context: Context,
): Promise<void> {
  const { clock, signal } = context;
  const noTotals = (): undefined => undefined;
  const begun = clock.monotonic();
  const result = await withProgress(
    { ...options, sources: request.sources },
    noTotals,
    context,
    async (observer) => {
      return await estimate({ ...request, ...ownFacts(request) }, observer, signal);
    },
  );
  if (result.problems.length > 0) context.exitCode = EXIT.partial;
  await showEstimated(result, clock.monotonic() - begun, options, context);
}

function ownFacts({ host }: GivenHost): MadeHere {
  const here = madeHere();
  return { ...here, host: host ?? here.host };
}

async function withProgress<T>(
  options: SaveOptions & { readonly sources: readonly ByteString[] },
  totals: () => ExpectedTotals | undefined,
  context: Context,
  work: (observer: ArchiveObserver) => Promise<T>,
): Promise<T> {
  const { out } = context;
  const json = options.json === true;
  const progress = openProgress('Backing up', options, context);
  context.outcome =
    'No snapshot was made. To continue, run the same command again: it reuses what is already stored.';
  const watch = watchArchive({
    progress,
    sources: options.sources,
    totals,
    onProblem: json
      ? ({ path, code, message }) =>
          out.push(jsonLine({ type: 'problem', ...pathFields(path), code, message }))
      : undefined,
    warn: json || options.quiet === true ? (text) => void context.stderr.write(`${text}\n`) : undefined,
    phaseName: json ? (phase) => phase : (phase) => PHASES[phase],
  });
  try {
    for (const note of options.notes) progress.note(`Note: ${note}`);
    return await work(watch.observer);
  } finally {
    watch.stop();
    progress.finish();
  }
}

/** Words for the phases. There is none for scanning, since the engine already reads and stores meanwhile. */
const PHASES = { scanning: '', uploading: 'finishing', committing: 'finishing' };

/**
 * After a backup, extends the protection of what snapshots need against deletion. The snapshot is complete by then, so
 * what cannot be protected is only warned of.
 */
export async function protect(repository: Repository, context: Context): Promise<void> {
  context.outcome =
    'The snapshot is complete. The next backup finishes the remaining protection of its data.';
  const protection = await extendProtection(repository, context.signal);
  const warning = protection && protectionWarning(protection);
  if (warning !== undefined) context.stderr.write(`Warning: ${printable(warning)}\n`);
}

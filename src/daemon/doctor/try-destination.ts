/** Tries out a destination for the command line and the page, and reports the result of each step. */
import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DestinationError, HoldfastError, errnoOf } from '../../base/errors.ts';
import { treePath } from '../../base/tree-path.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import type { Clock } from '../../base/clock.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import type { Destination } from '../../destination/destination.ts';
import { directoryOf, parseLocation, shownPlace } from '../../destination/location.ts';
import { measureDestination, UNMEASURED, type Measured } from '../../destination/open/measure.ts';
import { openDestination, type OpenOptions } from '../../destination/open/open.ts';
import { probeDestination } from '../../destination/open/probe.ts';
import { areOnSameDisk } from '../../system/disk-identity.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import { readKeyFiles } from '../../repository/slots/key-files.ts';
import { requireFree } from '../../repository/new-objects.ts';
import { answersFrom } from '../../system/far-answer.ts';
import { unmountedAt } from '../../system/unmounted.ts';
import { checkSpace } from './machine.ts';
import { guarded, ok, problem, warning, type Finding } from './finding.ts';
import { mayBeThere } from '../../system/where-it-lies.ts';

export interface Trial {
  /** An absolute path, or a URL. */
  readonly url: string;
  /** Whether it is the embedded repository. */
  readonly isEmbedded: boolean;
  /** Whether it differs from what the settings have: a new place is refused where a disk is not mounted. */
  readonly isNew: boolean;
  /** Makes the directory that the first backup would make. It is kept if the place can be used. */
  readonly create?: boolean;
  /** Returns the options for reaching the place. An error becomes a finding. */
  readonly reach: () => Promise<OpenOptions>;
  /** Opens the existing repository as a backup would; undefined when no settings say with what secret. */
  readonly openRepository: (() => Promise<Finding>) | undefined;
  /** Id of a repository that was seen there before, and is never made anew. */
  readonly remembered?: string | undefined;
  /** Paths that are backed up, or will be. */
  readonly files: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface TrialReport {
  readonly findings: readonly Finding[];
  readonly measured: Measured;
}

/** The check that fails where a repository is already and has to be opened with another passphrase. */
export const NEEDS_PASSPHRASE = 'passphrase';

/** Seconds of clock difference from which on it is reported. */
const SKEW_SECONDS = 60;

/** Errors become findings. Rejects only for an aborted signal or a bug. */
export async function tryDestination(trial: Trial): Promise<TrialReport> {
  const { url, isEmbedded, isNew, create = false, signal } = trial;
  let directory: string | undefined;
  let point: string | undefined;
  let made: readonly string[] = [];
  let destination: Destination;
  try {
    directory = directoryOf(url);
    point = directory === undefined ? undefined : unmountedAt(directory);
    if (directory !== undefined) {
      if (isEmbedded && !(await mayBeThere(directory))) return alone(notMadeYet());
      if (point !== undefined && isNew && !(await mayBeThere(join(directory, 'keys'))))
        return alone(problem(...nothingMounted(point, directory)));
      if (create && (await answersFrom(directory, signal))) made = await missingOf(directory);
    }
    destination = await openDestination(url, { ...(await trial.reach()), create }, signal);
  } catch (error) {
    await unmake(made);
    signal.throwIfAborted();
    if (!(error instanceof HoldfastError)) throw error;
    return alone(
      problem(
        'open',
        error.message,
        hintOf(error, { directory, point, isKnown: trial.remembered !== undefined }),
      ),
    );
  }
  let isKept = false;
  try {
    const report = await examine(destination, { directory, point, isMade: made.length > 0 }, trial);
    isKept = report.findings.every(({ status }) => status !== 'error');
    return report;
  } finally {
    await destination.close();
    if (!isKept) await unmake(made);
  }
}

interface Scene {
  readonly directory: string | undefined;
  /** The mount point at which nothing is mounted, although something should be. */
  readonly point: string | undefined;
  readonly isMade: boolean;
}

async function examine(
  destination: Destination,
  { directory, point, isMade }: Scene,
  { url, isEmbedded, files, clock, signal, remembered, openRepository }: Trial,
): Promise<TrialReport> {
  const shown = shownPlace(parseLocation(url));
  const opened = ok('open', isMade ? `${shown} was created` : `${shown} is available`);
  const mounted =
    point === undefined || directory === undefined ? [] : [warning(...nothingMounted(point, directory))];
  const promises = await probeDestination(destination, clock, signal);
  const keeps = promises.every(({ status }) => status !== 'error');
  const measured = keeps ? await measureDestination(destination, clock, signal) : UNMEASURED;
  const room =
    directory === undefined ? [] : [await guarded('space', async () => await checkSpace('space', directory))];
  const repository = await guarded(
    'repository',
    async () => await lookForRepository(destination, { isEmbedded, remembered, openRepository }, signal),
  );
  // While its disk is away, the empty mount point is on the disk that it is mounted in.
  const isAway = mounted.length > 0 || (remembered !== undefined && repository.status === 'error');
  const disk = directory === undefined || isAway ? [] : sameDiskFindings(directory, files);
  const findings = [
    opened,
    ...mounted,
    ...promises,
    ...measuredFindings(measured),
    ...room,
    ...disk,
    repository,
  ];
  return { findings, measured };
}

function nothingMounted(point: string, directory: string): readonly [string, string, string] {
  return [
    'mounted',
    `Nothing seems to be mounted at ${point}, so ${directory} would be on the system disk`,
    `Connect and mount the disk or share first. For a folder on this computer itself, choose one outside ${point}.`,
  ];
}

/** The directory and its parents that do not exist, the lowest first. */
async function missingOf(directory: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = directory; !(await mayBeThere(at)); at = dirname(at)) missing.push(at);
  return missing;
}

/** Removes directories that were made for a place that cannot be used, unless somebody has put something into them meanwhile. */
async function unmake(made: readonly string[]): Promise<void> {
  for (const directory of made) {
    try {
      await rmdir(directory);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return;
    }
  }
}

/** A copy on the same disk as the files is lost together with them, however reliable the disk is. */
export function sameDiskFindings(directory: string, files: readonly string[]): readonly Finding[] {
  const isFar = (path: string): boolean => farPlaceOf(treePath(path)) !== undefined;
  const isShared =
    !isFar(directory) && files.some((path) => !isFar(path) && areOnSameDisk(directory, path) === true);
  if (!isShared) return [];
  return [
    warning(
      'same disk',
      'This folder is on the same disk as your files. If the disk fails, both are lost',
      'Choose a place on another disk or another machine.',
    ),
  ];
}

function measuredFindings({ writeSpeed, readSpeed, clockSkewSeconds }: Measured): readonly Finding[] {
  const speed =
    writeSpeed === null || readSpeed === null
      ? []
      : [ok('speed', `Writes ${formatBytes(writeSpeed)}/s, reads ${formatBytes(readSpeed)}/s`)];
  if (clockSkewSeconds === null || Math.abs(clockSkewSeconds) < SKEW_SECONDS) return speed;
  const hint = 'Set the clocks, and let the systems keep them right.';
  return [...speed, warning('clock', skewText(clockSkewSeconds), hint)];
}

/** @param seconds by which the clock of the destination is ahead */
export function skewText(seconds: number): string {
  const skew = formatDuration(Math.round(Math.abs(seconds)) * 1000);
  return `Its clock is ${skew} ${seconds > 0 ? 'ahead of' : 'behind'} the one of this machine`;
}

async function lookForRepository(
  destination: Destination,
  { isEmbedded, remembered, openRepository }: Pick<Trial, 'isEmbedded' | 'remembered' | 'openRepository'>,
  signal: AbortSignal,
): Promise<Finding> {
  const { slots, damaged } = await readKeyFiles(destination, signal);
  if (slots.length + damaged.length === 0 && remembered !== undefined)
    return problem(
      'repository',
      'The repository that was there is gone, so a backup would fail',
      'Check that the right drive is mounted there. If it was emptied on purpose, use another folder as the destination: backups start afresh there.',
    );
  const ids = slots.map((slot) => slot.repository.toString('hex'));
  if (ids.length > 0 && damaged.length === 0 && remembered !== undefined && !ids.includes(remembered))
    return problem(
      'repository',
      'The repository there is not the one that holds your backups, so a backup would fail',
      'Connect or mount the right disk. To use this repository, move it to another folder, and add that as a destination.',
    );
  // The first backup and "init" would refuse these places too.
  if (slots.length + damaged.length === 0) await requireFree(destination, signal);
  if (slots.length + damaged.length === 0) return ok('repository', 'None yet: the first backup creates it');
  if (openRepository === undefined)
    return warning(
      'repository',
      'A repository already exists here. Holdfast will check its passphrase once the destination is configured',
      'Set the passphrase of that repository in the settings of the destination, or choose another place.',
    );
  try {
    return await openRepository();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'WRONG_PASSPHRASE') throw error;
    return problem(
      // The embedded one opens with the key of this machine, for which no passphrase can stand in.
      isEmbedded ? 'repository' : NEEDS_PASSPHRASE,
      `A repository already exists here, but it cannot be opened, so a backup would fail: ${error.message}`,
      'Enter the passphrase or the recovery code of that repository, or choose another place.',
    );
  }
}

function alone(finding: Finding): TrialReport {
  return { findings: [finding], measured: UNMEASURED };
}

function notMadeYet(): Finding {
  return warning(
    'open',
    'The repository in the state directory does not exist yet',
    `The first start creates it: ${holdfast`start`}`,
  );
}

interface Missing extends Pick<Scene, 'directory' | 'point'> {
  /** Whether it has been reached before: then a directory made in its place would only hide that the disk is away. */
  readonly isKnown: boolean;
}

function hintOf(error: HoldfastError, { directory, point, isKnown }: Missing): string {
  const isAbsent = error instanceof DestinationError && error.kind === 'not-found';
  if (!isAbsent || directory === undefined) return error.hint;
  if (point !== undefined)
    return `Nothing seems to be mounted at ${point}: connect and mount the disk or share.`;
  return isKnown ? error.hint : `${error.hint} If it is new, create the directory: mkdir ${directory}`;
}

/** Tells users of snapshots in other repositories of the settings than the one that a command reads. */
import { localTime } from '../../base/units.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DestinationError, type ErrorFacts, HoldfastError, RepositoryError } from '../../base/errors.ts';
import { groupForLatest } from '../../base/stored-by.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { directoryOf } from '../../destination/location.ts';
import { shownDestination } from '../../config/embedded-repository.ts';
import type { DestinationSettings, Settings } from '../../config/settings.ts';
import { configuredPath } from '../../daemon/sources/configured-source.ts';
import { listSnapshots, type Snapshot } from '../../repository/snapshots.ts';
import type { Context } from '../command/context.ts';
import { openAt, shownLocation } from './open.ts';
import type { OutputOptions, RepositoryOptions } from '../command/options.ts';
import { secretOfSettings } from './reach.ts';
import { configFile } from '../command/state-directory.ts';
import { count, timeOf } from '../terminal/wording.ts';
import { printable } from '../terminal/terminal.ts';

export interface Elsewhere {
  readonly name: string;
  /** For people: a path or a URL. */
  readonly shown: string;
  /** Whether it is the embedded repository. */
  readonly isEmbedded: boolean;
  /** Null if nothing looked there, or could. */
  readonly snapshots: number | null;
  /** When the newest of them was made; milliseconds since 1970. */
  readonly newestMs: number | null;
}

/**
 * Runs `work`, which reads the repository that the options name. If none was named, and the default destination is away
 * or lacks what was asked for, the error says where else there are snapshots and how to read them. The command itself
 * never turns to another repository.
 */
export async function sayingElsewhere<T>(
  options: RepositoryOptions,
  context: Context,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAboutPlace(error)) throw error;
    const way = await wayElsewhere(options, context);
    throw way === undefined ? error : withHint(error, way);
  }
}

/** Where else there are snapshots and how to read them; undefined if a repository was named, or no others are known. */
export async function wayElsewhere(
  options: RepositoryOptions,
  context: Context,
): Promise<string | undefined> {
  const settings = await settingsIfNeeded(options, context);
  if (settings === undefined) return undefined;
  // Destinations on other machines are not contacted.
  return wayTo(await lookAtEach(othersOf(settings, settings.defaultDestination), settings, context));
}

/** Notes the other destinations for a command that reads only the default destination. */
export async function noteOthers(options: RepositoryOptions, context: Context): Promise<void> {
  const settings = await settingsIfNeeded(options, context);
  if (settings === undefined) return;
  const others = othersOf(settings, settings.defaultDestination);
  if (others.length === 0) return;
  const named = others.map((one) => {
    const what = one === settings.embedded ? 'earlier backups on this computer' : shownLocation(one.url);
    return `${one.name} (${what})`;
  });
  const [first] = others;
  context.stderr.write(
    printable(
      `This covers only ${shownDestination(settings.defaultDestination, settings)}. There is also ${named.join(', ')}: `,
    ) + `add -r ${printable(first?.name ?? '')} to see it.\n`,
  );
}

/**
 * Notes each source that the settings send to another destination only: this backup goes to the default one, and does
 * not replace those.
 */
export async function noteSettingsOf(
  words: readonly string[],
  options: RepositoryOptions & OutputOptions,
  context: Context,
): Promise<void> {
  if (options.json === true || options.quiet === true) return;
  const settings = await settingsIfNeeded(options, context);
  if (settings === undefined) return;
  const { defaultDestination, sources } = settings;
  for (const word of words) {
    const path = configuredPath(settings, resolve(word));
    const to = sources.filter((source) => source.path === path).flatMap(({ destinations }) => destinations);
    const [first] = to;
    if (first === undefined || to.includes(defaultDestination)) continue;
    context.stderr.write(
      printable(
        `The settings back up ${path} to ${[...new Set(to)].join(', ')}, but this backup goes to ${shownDestination(defaultDestination, settings)}. To follow the settings: `,
      ) + `${holdfast`backup -r ${first} ${word}`}\n`,
    );
  }
}

/**
 * Undefined if a repository was named, or nothing is configured. Then nothing is loaded: settings take longer to load
 * than such commands to run.
 */
async function settingsIfNeeded(
  { repository }: RepositoryOptions,
  context: Context,
): Promise<Settings | undefined> {
  const named = repository ?? context.env['HOLDFAST_REPOSITORY'] ?? '';
  if (named !== '' || !existsSync(configFile(undefined, context.env))) return undefined;
  const { settingsOnce } = await import('./settings-file.ts');
  return await settingsOnce(context);
}

/** The destinations of the settings except the named one. */
export function othersOf(settings: Settings, name: string): readonly DestinationSettings[] {
  return settings.destinations.filter((one) => one.name !== name);
}

/** The snapshots in each place, as far as it is on this machine and can be opened. */
export async function lookAtEach(
  places: readonly DestinationSettings[],
  { embedded }: Pick<Settings, 'embedded'>,
  context: Context,
): Promise<readonly Elsewhere[]> {
  const found: Elsewhere[] = [];
  for (const place of places) {
    const known = directoryOf(place.url) === undefined ? UNKNOWN : await lookInto(place, context);
    const isEmbedded = place.url === embedded.url;
    found.push({ name: place.name, shown: shownLocation(place.url), isEmbedded, ...known });
  }
  return found;
}

const UNKNOWN = { snapshots: null, newestMs: null };

async function lookInto(
  place: DestinationSettings,
  context: Context,
): Promise<Pick<Elsewhere, 'snapshots' | 'newestMs'>> {
  try {
    const secret = await secretOfSettings(place, context);
    if (secret === undefined || secret.kind === 'write-only') return UNKNOWN;
    const chosen = { location: place.url, how: 'named', settings: place } as const;
    const repository = await openAt(chosen, secret, context);
    try {
      const { live } = await listSnapshots(repository, context.signal);
      return { snapshots: live.length, newestMs: newestMsOf(live) };
    } finally {
      await repository.close();
    }
  } catch (error) {
    // A fault of another place must not fail the command, which is not about that place.
    if (!(error instanceof HoldfastError)) throw error;
    return UNKNOWN;
  }
}

/** `1 snapshot, of 2026-11-21 13:05`, `12 snapshots, the newest of …`; undefined while that is not known. */
export function holdings({ snapshots, newestMs }: Elsewhere): string | undefined {
  if (snapshots === null || newestMs === null) return undefined;
  const which = snapshots === 1 ? 'from' : 'the latest from';
  return `${count(snapshots, 'snapshot')}, ${which} ${localTime(newestMs)}`;
}

/** A hint for the best of the places that have snapshots, or may have; undefined if there is none. */
function wayTo(places: readonly Elsewhere[]): string | undefined {
  const [best, ...others] = [
    ...places.filter(({ snapshots }) => (snapshots ?? 0) > 0),
    ...places.filter(({ snapshots }) => snapshots === null),
  ];
  if (best === undefined) return undefined;
  const what = holdings(best);
  const has =
    what === undefined
      ? `There may be more backups in ${best.name} (${best.shown})`
      : `There are more backups in ${best.name} (${best.shown}): ${what}`;
  const more = others.length === 0 ? '' : ` Also in: ${others.map(({ name }) => name).join(', ')}.`;
  return `${has}. To use them, add -r ${best.name} to the command; to list them: ${holdfast`snapshots -r ${best.name}`}.${more}`;
}

type AboutPlace = RepositoryError | DestinationError;

function isAboutPlace(error: unknown): error is AboutPlace {
  if (error instanceof DestinationError) return true;
  return (
    error instanceof RepositoryError &&
    (error.code === 'NO_REPOSITORY' || error.code === 'SNAPSHOT_NOT_FOUND')
  );
}

function withHint(error: AboutPlace, more: string): AboutPlace {
  const { op, details, retry, cause } = error;
  // After a mistyped snapshot, the hint that lists snapshots comes first. Of a place that is away, the other places
  // come first.
  const isSnapshotMissing = error.code === 'SNAPSHOT_NOT_FOUND';
  const facts: ErrorFacts = {
    op,
    details,
    retry,
    hint: isSnapshotMissing ? `${error.hint}. ${more}` : `${more} ${error.hint}`.trim(),
    cause,
  };
  return error instanceof DestinationError
    ? new DestinationError(error.kind, error.message, facts)
    : new RepositoryError(error.code, error.message, facts);
}

/** The time of the snapshot that `latest` means, or of the newest of all if `latest` is ambiguous there. */
function newestMsOf(live: readonly Snapshot[]): number | null {
  const newest = (groupForLatest(live, ({ storedBy }) => storedBy)?.group ?? live).at(-1);
  return newest === undefined ? null : timeOf(newest);
}

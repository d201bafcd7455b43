/** What commands that look into snapshots need: the repository, its snapshots, and readers for their trees. */
import { typedTreePath } from '../../base/typed-path.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { SnapshotTrees } from '../../browse/snapshot-trees.ts';
import { pathIn } from '../../base/source-names.ts';
import { wherePathLeads } from '../../system/where-it-lies.ts';
import type { ByteString } from '../../base/byte-path.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { loadForReading } from '../../repository/contents/index-for.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type Snapshot, type SnapshotList } from '../../repository/snapshots.ts';
import { lastPacks } from '../../repository/tombstones.ts';
import { haveAllVanished } from '../../repository/chains/lost-records.ts';
import type { Context } from '../command/context.ts';
import { sayingElsewhere } from '../places/elsewhere.ts';
import { EXIT } from '../command/exit-codes.ts';
import type { Look } from './listing.ts';
import { withCachedRepository } from '../places/open.ts';
import { usage, type RepositoryOptions } from '../command/options.ts';
import { createStyles, printable, printablePath, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

export interface Reading {
  readonly repository: Repository;
  /** Loaded on first use: cached trees do not need it. */
  readonly index: () => Promise<ChunkIndex>;
  /** Live snapshots, oldest first. */
  readonly snapshots: readonly Snapshot[];
  readonly trees: SnapshotTrees;
}

/** Opens the repository for reading, runs `work`, and closes it. */
export async function withReading(
  options: RepositoryOptions,
  context: Context,
  work: (reading: Reading) => Promise<void>,
): Promise<void> {
  const read = async (repository: Repository): Promise<void> => {
    const list = await listSnapshots(repository, context.signal);
    let loading: Promise<ChunkIndex> | undefined;
    const index = async (): Promise<ChunkIndex> =>
      await (loading ??= loadForReading(repository, lastPacks(list.tombstones), context.signal));
    await warnOfLoss(repository, list, context);
    await work({ repository, index, snapshots: list.live, trees: new SnapshotTrees(repository, index) });
  };
  await sayingElsewhere(options, context, async () => await withCachedRepository(options, context, read));
}

/** Warns of snapshots that cannot be read, and of an empty list although something was saved. Returns true in the latter case. */
export async function warnOfLoss(
  repository: Repository,
  list: SnapshotList,
  context: Context,
): Promise<boolean> {
  warnOfDamaged(list, context);
  const vanished = await haveAllVanished(repository, list, context.signal);
  if (vanished)
    context.stderr.write(
      `Warning: snapshots that were saved here are missing. To find out more: ${holdfastThere`check`}\n`,
    );
  return vanished;
}

/** Warns of snapshots that cannot be read. The others can, but the newest of those may be older than `latest` was. */
export function warnOfDamaged({ damaged }: SnapshotList, { stderr }: Context): void {
  if (damaged.length === 0) return;
  stderr.write(
    `Warning: ${count(damaged.length, 'snapshot')} cannot be read and ${damaged.length === 1 ? 'is' : 'are'} left out, so "latest" may mean an older one. To find out more: ${holdfastThere`check`}\n`,
  );
}

/** `latest:/srv/www` as the name of a snapshot and a path in it. @throws {RequestError} for an empty path, which names none */
export function splitName(name: string): { readonly snapshot: string; readonly path: string | undefined } {
  const colon = name.indexOf(':');
  if (colon === -1) return { snapshot: name, path: undefined };
  const path = name.slice(colon + 1);
  if (path !== '') return { snapshot: name.slice(0, colon), path };
  throw usage(
    `There is no path after the colon in "${name}"`,
    'For the whole snapshot, leave out the colon.',
  );
}

/** Reports a directory that cannot be read and goes on: the exit code says that something is missing. */
export function reportUnreadable(context: Context): (path: ByteString, error: Error) => void {
  return (path, error) => {
    context.exitCode = EXIT.failed;
    context.stderr.write(`Cannot be read: ${printablePath(path)}: ${printable(error.message)}\n`);
  };
}

/** How lists look on this output. */
export function lookOf({ out, env }: Context): Look {
  return { styles: createStyles(wantsColor(out.stream, env)), width: terminalWidth(out.stream) };
}

/** A path as typed, absolute and without `.`, `..` and a slash at its end. */
export function sourcePath(typed: string): ByteString {
  return typedTreePath(typed);
}

/**
 * The path in a snapshot for what was typed, which may lead through symbolic links or be the name of a source as it was
 * given.
 */
export function placeIn({ record }: Snapshot, typed: string): ByteString {
  const path = sourcePath(typed);
  return pathIn(record, path, wherePathLeads(path));
}

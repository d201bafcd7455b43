/** Finds a path in other snapshots if the named one lacks it: most often the file was deleted before the last backup. */
import type { Command } from 'commander';
import { treePath } from '../../base/tree-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import { storeKey } from '../../base/stored-by.ts';
import type { SnapshotTrees } from '../../browse/snapshot-trees.ts';
import { newestWith } from '../../browse/versions.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { splitName } from './reading.ts';
import { shortId, timeText } from '../terminal/wording.ts';

/** How many snapshots are searched. `versions` and `find` look further back. */
const SEARCHED = 300;
/** Options that the suggested command does not repeat: it names its snapshot by id, and its repository itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['repository', 'host', 'tag', 'path', 'storedBy']);

export interface Searched {
  /** Oldest first. */
  readonly snapshots: readonly Snapshot[];
  readonly trees: SnapshotTrees;
  readonly signal: AbortSignal;
  /** Gives the same command with these words: a snapshot, a path, and the options that were typed. */
  readonly again: (words: readonly string[]) => string;
}

/** Does `work`; where a path is not in its snapshot, the error names the newest one that has it. */
export async function sayingOther<T>(command: Command, where: Searched, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RepositoryError) || error.code !== 'PATH_NOT_IN_SNAPSHOT') throw error;
    throw await withOther(error, command, where);
  }
}

async function withOther(error: RepositoryError, command: Command, where: Searched): Promise<Error> {
  const { snapshots, trees, signal, again } = where;
  const { path, snapshot: id } = error.details;
  const asked = snapshots.find((one) => one.id === id);
  if (asked === undefined || typeof path !== 'string') return error;
  const others = snapshots.filter(
    (one) =>
      one !== asked &&
      one.record.host === asked.record.host &&
      storeKey(one.storedBy) === storeKey(asked.storedBy),
  );
  const found = await newestWith(trees, others.slice(-SEARCHED), treePath(path), signal);
  if (found === undefined) return error;
  const isEarlier = snapshots.indexOf(found) < snapshots.indexOf(asked);
  const which = `${shortId(found.id)} of ${timeText(found)}`;
  const words = [...namesFor(command, found, path), ...typedOptions(command)];
  return new RepositoryError(error.code, error.message, {
    op: error.op,
    details: { ...error.details, found_in: found.id },
    hint: `It ${isEarlier ? 'was last' : 'is'} in snapshot ${which}. To use that snapshot: ${again(words)}`,
  });
}

/** The snapshot and paths for the suggested command. A directory after a colon stays there, along with the paths named in it. */
function namesFor(command: Command, { id }: Snapshot, path: string): readonly string[] {
  const [name = '', ...paths] = command.args;
  return splitName(name).path === undefined ? [shortId(id), path] : [`${shortId(id)}:${path}`, ...paths];
}

/** The options that were typed, as words. */
function typedOptions(command: Command): readonly string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (LEFT_OUT.has(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    const flag = option.long ?? option.short ?? '';
    if (typeof value === 'boolean') return value === !option.negate ? [flag] : [];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one) => [flag, String(one)]);
  });
}

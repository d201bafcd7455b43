/**
 * Finds the snapshots that the options of a command select, and the one that `latest` means. If a write-only key stored
 * it, that is said.
 */
import { pathText } from '../../base/tree-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { isSourceOf } from '../../base/source-names.ts';
import { isFull, isStoredByAny, storeChoice, storedByText } from '../../base/stored-by.ts';
import { type ResolvedSnapshot, resolveNamed } from '../../repository/resolve-snapshot.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { wherePathLeads } from '../../system/where-it-lies.ts';
import type { Context } from '../command/context.ts';
import { commaList, type FilterOptions } from '../command/options.ts';
import { sourcePath } from './reading.ts';
import { count, shortId, timeText } from '../terminal/wording.ts';
import { printable } from '../terminal/terminal.ts';

/** The snapshots that the filter options leave, oldest first. */
export function filterSnapshots(snapshots: readonly Snapshot[], filters: FilterOptions): readonly Snapshot[] {
  const hosts = filters.host ?? [];
  const tagLists = (filters.tag ?? []).map((list) => commaList([list]));
  const paths = (filters.path ?? []).map(sourcePath).map((path) => [path, ...wherePathLeads(path)]);
  return snapshots.filter(
    ({ record, storedBy }) =>
      (hosts.length === 0 || hosts.includes(record.host)) &&
      (tagLists.length === 0 || tagLists.some((tags) => tags.every((tag) => record.tags.includes(tag)))) &&
      paths.every((path) => isSourceOf(record, path)) &&
      isStoredByAny(storedBy, filters.storedBy ?? []),
  );
}

/**
 * A snapshot by its name alone.
 * @throws {RepositoryError}
 */
export function namedSnapshot(snapshots: readonly Snapshot[], name: string, context: Context): Snapshot {
  return told(resolveNamed(snapshots, name), name, context);
}

/**
 * `latest` is the newest snapshot that the filters leave. An id is looked up among all snapshots, or with `filtered`
 * among those.
 * @throws {RepositoryError}
 */
export function chooseSnapshot(
  snapshots: readonly Snapshot[],
  name: string,
  filters: FilterOptions,
  context: Context,
  ids: 'any' | 'filtered' = 'any',
): Snapshot {
  if (ids === 'any' && !name.startsWith('latest')) return namedSnapshot(snapshots, name, context);
  const left = filterSnapshots(snapshots, filters);
  try {
    return told(resolveNamed(left, name), name, context);
  } catch (error) {
    const isFiltered = error instanceof RepositoryError && left.length < snapshots.length;
    throw isFiltered && error.code === 'SNAPSHOT_NOT_FOUND'
      ? noneLike(name, left.length, snapshots, filters)
      : error;
  }
}

/** The error when the repository has snapshots, but the filters leave none of them, or too few for `latest~N`. */
function noneLike(
  name: string,
  left: number,
  snapshots: readonly Snapshot[],
  filters: FilterOptions,
): RepositoryError {
  return notFound(`There is no snapshot "${name}": ${whatFiltersLeave(left, snapshots, filters)}`);
}

/**
 * A filter that matches nothing is more often mistyped than meant, and nobody notices a rule that removes nothing, a copy
 * of nothing, or a search of no snapshot.
 * @throws {RepositoryError} SNAPSHOT_NOT_FOUND when there are snapshots, and the filters leave none of them
 */
export function requireSome(
  chosen: readonly Snapshot[],
  snapshots: readonly Snapshot[],
  filters: FilterOptions,
  outcome: 'Nothing was removed' | 'Nothing was copied' | 'Nothing was searched',
): void {
  if (chosen.length > 0 || snapshots.length === 0) return;
  throw notFound(`${outcome}: ${whatFiltersLeave(0, snapshots, filters)}`);
}

function notFound(message: string): RepositoryError {
  return new RepositoryError('SNAPSHOT_NOT_FOUND', message, {
    op: 'choose a snapshot',
    hint: `List all snapshots with their paths, hosts and tags: ${holdfastThere`snapshots`}`,
  });
}

function whatFiltersLeave(
  left: number,
  snapshots: readonly Snapshot[],
  { host = [], tag = [], path = [], storedBy = [] }: FilterOptions,
): string {
  const asked = [
    ...path.map((one) => `of the path ${pathText(sourcePath(one))}`),
    ...(host.length === 0 ? [] : [`of the host ${host.join(' or ')}`]),
    ...(tag.length === 0 ? [] : [`with the tags ${tag.join(' or ')}`]),
    ...(storedBy.length === 0 ? [] : [`stored by ${storedBy.map(chosenText).join(' or ')}`]),
  ].join(' and ');
  const some = left === 1 ? 'only 1 is' : `only ${left} are`;
  return `the repository has ${count(snapshots.length, 'snapshot')}, and ${left === 0 ? 'none is' : some} ${asked}`;
}

function chosenText(choice: string): string {
  return choice === 'full' ? 'full keys' : `write-only key ${choice}`;
}

/** Says when a write-only key stored the chosen snapshot: whoever has that key could have made it look like another machine's. */
function told({ snapshot, newer }: ResolvedSnapshot, name: string, context: Context): Snapshot {
  const say = (text: string): void => void context.stderr.write(`Note: ${printable(text)}\n`);
  if (!isFull(snapshot.storedBy))
    say(
      `"${name}" is snapshot ${shortId(snapshot.id)} from ${timeText(snapshot)}, stored by ${storedByText(snapshot.storedBy)}: whoever has that key chose its host, paths and times.`,
    );
  for (const one of newer)
    say(
      `${storedByText(one.storedBy)} has a newer one: ${shortId(one.id)} from ${timeText(one)}. Choose it with --stored-by ${storeChoice(one.storedBy)}.`,
    );
  return snapshot;
}

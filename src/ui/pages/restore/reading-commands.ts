/** The commands that show what the page shows of backups. */
import { holdfast, shellWord } from '../../agent/program.ts';
import type { OverviewDestination } from '../../../api/schemas/page/overview.ts';
import { type PathRef, shellPath } from './path-ref.ts';

/** Digits of a snapshot's id that are enough to be unique. */
const SHORT_ID = 12;

/** The name of a destination in a command; undefined for the default one. */
export type Repository = string | undefined;

export interface SnapshotPlace {
  /** The id of the snapshot. */
  readonly snapshot: string;
  readonly destination: Repository;
}

/** The option that follows the name of the command; empty for the default destination. */
export function repositoryOption(destination: Repository): readonly string[] {
  return destination === undefined ? [] : [`-r ${shellWord(destination)}`];
}

/** All destinations, the default one first, as one command reads only one. */
export function repositoriesOf(
  destinations: readonly Pick<OverviewDestination, 'name' | 'is_default'>[],
): readonly Repository[] {
  return [undefined, ...destinations.filter((one) => !one.is_default).map(({ name }) => name)];
}

export function shortId(snapshot: string): string {
  return snapshot.slice(0, SHORT_ID);
}

export function listCommand({ snapshot, destination }: SnapshotPlace, directory: PathRef): string {
  return words('ls', destination, shortId(snapshot), shellPath(directory), '--long');
}

export function contentCommand(
  { snapshot, destination }: SnapshotPlace,
  file: PathRef,
  saveAs: string,
): string {
  return words('cat', destination, shortId(snapshot), shellPath(file), `> ${shellWord(saveAs)}`);
}

/** `within`: the only snapshot to search; without it, all snapshots in each of `repositories`. */
export function findCommands(
  q: string,
  within: SnapshotPlace | undefined,
  repositories: readonly Repository[],
): readonly string[] {
  const looked = [shellWord(/[*?]/.test(q) ? q : `*${q}*`), '--ignore-case'];
  if (within !== undefined)
    return [words('find', within.destination, ...looked, `--snapshot ${shortId(within.snapshot)}`)];
  return repositories.map((repository) => words('find', repository, ...looked));
}

export function versionsCommands(file: PathRef, repositories: readonly Repository[]): readonly string[] {
  return repositories.map((repository) => words('versions', repository, shellPath(file)));
}

function words(command: string, repository: Repository, ...others: readonly string[]): string {
  return [holdfast`${command}`, ...repositoryOption(repository), ...others].join(' ');
}

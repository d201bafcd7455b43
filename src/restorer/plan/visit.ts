import { asByteString, type ByteString } from '../../base/byte-path.ts';
import type { DirectoryEntry, DirectoryTotals } from '../../format/tree.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { ExtraNames } from './extra-entries.ts';
import type { SelectedDirectory } from '../request/selection.ts';
import { NO_CLASHES, TakenNames, type Clashes } from '../target/taken-names.ts';

/** A directory on the planner's walk. */
export interface Visit {
  readonly id: Buffer;
  readonly handle: RecordHandle;
  /** Empty for the root. */
  readonly name: ByteString;
  readonly above: Visit | undefined;
  readonly depth: number;
  readonly selection: SelectedDirectory;
  /** The totals that its entry in the parent claims for its content. */
  readonly totals: DirectoryTotals | undefined;
  /**
   * Its entry until the directory is made. Directories that only lead to selected entries are made when the first of
   * those is.
   */
  unmade: DirectoryEntry | undefined;
  /** `fail`: it could not be made, so nothing below it can be. */
  state: 'live' | 'fail';
  /** This run made it, so it was empty. */
  fresh: boolean;
  /** The names in it, if entries that the snapshot lacks are to be removed. */
  extra: ExtraNames | undefined;
  /** A restore that was killed made it, but did not finish it. */
  resumed: boolean;
  /** Entries in it that killed restores did not finish, with the marks that say so. */
  unfinished: ReadonlyMap<ByteString, ByteString>;
  /** The entries of the snapshot that exist in it so far. */
  taken: TakenNames<Visit>;
  /** Names that differ in spelling only are one here. */
  ignoresCase: boolean;
  /** Entries of the snapshot that are one here. */
  clashes: Clashes;
}

/**
 * The visit of the target itself.
 * @param fresh it does not exist
 */
export function rootVisit(
  id: Buffer,
  handle: RecordHandle,
  selection: SelectedDirectory,
  { fresh, ignoresCase }: Pick<Visit, 'fresh' | 'ignoresCase'>,
): Visit {
  return {
    id,
    handle,
    name: asByteString(''),
    above: undefined,
    depth: 0,
    selection,
    totals: undefined,
    unmade: undefined,
    state: 'live',
    fresh,
    extra: undefined,
    resumed: false,
    unfinished: new Map(),
    taken: new TakenNames(),
    ignoresCase,
    clashes: NO_CLASHES,
  };
}

/** The visit of a directory in another one; it has not been made yet. */
export function visitBelow(
  above: Visit,
  entry: DirectoryEntry,
  handle: RecordHandle,
  selection: SelectedDirectory,
): Visit {
  return {
    id: entry.id,
    handle,
    name: entry.name,
    above,
    depth: above.depth + 1,
    selection,
    totals: entry.totals,
    unmade: entry,
    state: above.state,
    fresh: false,
    extra: undefined,
    resumed: false,
    unfinished: new Map(),
    taken: new TakenNames(),
    ignoresCase: above.ignoresCase,
    clashes: NO_CLASHES,
  };
}

/** Path of the directory below the target. */
export function pathOfVisit(visit: Visit): ByteString {
  const names: ByteString[] = [];
  for (let one: Visit | undefined = visit; one?.above !== undefined; one = one.above) names.push(one.name);
  return asByteString(`/${names.toReversed().join('/')}`);
}

export function pathInVisit(visit: Visit, name: ByteString): ByteString {
  const above = pathOfVisit(visit);
  return asByteString(above === '/' ? `/${name}` : `${above}/${name}`);
}

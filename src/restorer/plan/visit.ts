import { asByteString, type ByteString } from '../../base/byte-path.ts';
import type { DirectoryEntry, DirectoryTotals } from '../../format/tree.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { ExtraNames } from './extra-entries.ts';
import type { SelectedDirectory } from '../request/selection.ts';
import { TakenNames } from '../target/taken-names.ts';

/** A directory on the planner's walk. */
export interface Visit {
  readonly id: Buffer;
  readonly handle: RecordHandle;
  /** Empty for the root. */
  readonly name: ByteString;
  readonly above: Visit | undefined;
  readonly depth: number;
  readonly selection: SelectedDirectory;
  /** What the entry in the parent promises about its inside. */
  readonly totals: DirectoryTotals | undefined;
  /** Its entry, as long as it has not been made; only directories that merely lead somewhere wait. */
  unmade: DirectoryEntry | undefined;
  /** `fail`: it could not be made, and nothing below it can. */
  state: 'live' | 'fail';
  /** This run made it, so nothing can be in it. */
  fresh: boolean;
  /** What stands in it, when what no entry claims is to be removed. */
  extra: ExtraNames | undefined;
  /** A restore that was killed made it and did not finish it. */
  resumed: boolean;
  /** What restores that were killed did not finish in it, and the marks that say so. */
  unfinished: ReadonlyMap<ByteString, ByteString>;
  /** The entries of the snapshot that stand in it. */
  taken: TakenNames<Visit>;
}

/** The target itself. @param fresh it does not exist */
export function rootVisit(
  id: Buffer,
  handle: RecordHandle,
  selection: SelectedDirectory,
  fresh: boolean,
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
  };
}

/** A directory in another one, which has not been made. */
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
  };
}

/** Below the target. */
export function pathOfVisit(visit: Visit): ByteString {
  const names: ByteString[] = [];
  for (let one: Visit | undefined = visit; one?.above !== undefined; one = one.above) names.push(one.name);
  return asByteString(`/${names.toReversed().join('/')}`);
}

export function pathInVisit(visit: Visit, name: ByteString): ByteString {
  const above = pathOfVisit(visit);
  return asByteString(above === '/' ? `/${name}` : `${above}/${name}`);
}

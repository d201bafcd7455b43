/** Which file systems a source lies on, and whether they tell of changes. */
import type { ByteString } from '../base/byte-path.ts';
import {
  isElsewhere,
  isMadeUp,
  mountOf,
  mountTable,
  parseMounts,
  type Mount,
} from '../system/mount-table.ts';

export interface MountView {
  /** The source itself lies where nothing is told of changes made elsewhere. */
  readonly silentRoot: boolean;
  /** Mounted below it, of that kind. */
  readonly silent: readonly ByteString[];
  /** Mounted below it and made up by the kernel: there is nothing to watch. */
  readonly virtual: readonly ByteString[];
  /** Mounted below it, of any other kind. */
  readonly telling: readonly ByteString[];
  /** Everything about it, for comparison. */
  readonly text: string;
}

/** Why changes are lost then. */
export const MOUNTS_CHANGED = 'a file system was mounted or unmounted in the source';

const NOTHING_TO_WATCH = new Set(['autofs', 'devpts', 'devtmpfs', 'hugetlbfs', 'mqueue']);

/** Where the system has no table of mounts, every file system counts as one that tells. */
export function mountsOf(root: ByteString): MountView {
  return viewIn(root, mountTable());
}

/** @param table as `/proc/self/mountinfo` has it */
export function viewIn(root: ByteString, table: string): MountView {
  return viewOf(root, parseMounts(table), identitiesIn(table));
}

/**
 * The numbers of mounts, with what is mounted: another directory of one file system may come in the place of the first.
 * By the path of each.
 */
function identitiesIn(table: string): ReadonlyMap<ByteString, string> {
  return new Map(
    table.split('\n').flatMap((line) => {
      const facts = line.split(' ').slice(0, 4).join(' ');
      return parseMounts(line).map(({ path }) => [path, facts] as const);
    }),
  );
}

export function viewOf(
  root: ByteString,
  mounts: readonly Mount[],
  identities: ReadonlyMap<ByteString, string> = new Map(),
): MountView {
  const own = mountOf(root, mounts);
  const prefix = root === '/' ? '/' : `${root}/`;
  const below = mounts.filter(({ path }) => path !== root && path.startsWith(prefix));
  const of = (wanted: (type: string) => boolean): readonly ByteString[] =>
    below.filter(({ type }) => wanted(type)).map(({ path }) => path);
  return {
    silentRoot: own !== undefined && isElsewhere(own.type),
    silent: of(isElsewhere),
    virtual: of(isVirtual),
    telling: of((type) => !isElsewhere(type) && !isVirtual(type)),
    text: JSON.stringify(
      [own, ...below.filter(({ type }) => !isVirtual(type))].map((mount) => [
        mount,
        mount && identities.get(mount.path),
      ]),
    ),
  };
}

function isVirtual(type: string): boolean {
  return isMadeUp(type) || NOTHING_TO_WATCH.has(type);
}

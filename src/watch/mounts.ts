/** The file systems of a source, and whether they report changes. */
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
  /** Whether the source itself is on a file system that does not report changes made elsewhere. */
  readonly silentRoot: boolean;
  /** Mount points below it with such file systems. */
  readonly silent: readonly ByteString[];
  /** Mount points below it with virtual file systems of the kernel, where there is nothing to watch. */
  readonly virtual: readonly ByteString[];
  /** Mount points below it with any other file system. */
  readonly telling: readonly ByteString[];
  /** All facts about the mounts as text, for comparison. */
  readonly text: string;
}

/** The reason given when mounts have changed. */
export const MOUNTS_CHANGED = 'a file system was mounted or unmounted in the source';

const NOTHING_TO_WATCH = new Set(['autofs', 'devpts', 'devtmpfs', 'hugetlbfs', 'mqueue']);

/** On a system without a mount table, every file system is assumed to report changes. */
export function mountsOf(root: ByteString): MountView {
  return viewIn(root, mountTable());
}

/** @param table in the format of `/proc/self/mountinfo` */
export function viewIn(root: ByteString, table: string): MountView {
  return viewOf(root, parseMounts(table), identitiesIn(table));
}

/** Mount numbers and roots by mount point: another directory of the same file system may replace the first one. */
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

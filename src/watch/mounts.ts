/** Which file systems a source lies on, and whether they tell of changes. */
import type { ByteString } from '../base/byte-path.ts';
import { isElsewhere, mountTable, parseMounts, type Mount } from '../system/mount-table.ts';

export interface MountView {
  /** The source itself lies where nothing is told of changes made elsewhere. */
  readonly silentRoot: boolean;
  /** Mounted below it, of that kind. */
  readonly silent: readonly ByteString[];
  /** Mounted below it and made up by the kernel: there is nothing to watch. */
  readonly virtual: readonly ByteString[];
  /** Everything about it, for comparison. */
  readonly text: string;
}

const VIRTUAL = new Set([
  'autofs',
  'binfmt_misc',
  'bpf',
  'cgroup',
  'cgroup2',
  'configfs',
  'debugfs',
  'devpts',
  'devtmpfs',
  'efivarfs',
  'fusectl',
  'hugetlbfs',
  'mqueue',
  'nsfs',
  'proc',
  'pstore',
  'rpc_pipefs',
  'securityfs',
  'selinuxfs',
  'sysfs',
  'tracefs',
]);

/** Where the system has no table of mounts, every file system counts as one that tells. */
export function mountsOf(root: ByteString): MountView {
  return viewOf(root, parseMounts(mountTable()));
}

export function viewOf(root: ByteString, mounts: readonly Mount[]): MountView {
  const own = mounts
    .filter(({ path }) => path === '/' || path === root || root.startsWith(`${path}/`))
    // The longest path wins, and of equal ones what was mounted last.
    .reduce<Mount | undefined>(
      (best, mount) => (best === undefined || mount.path.length >= best.path.length ? mount : best),
      undefined,
    );
  const prefix = root === '/' ? '/' : `${root}/`;
  const below = mounts.filter(({ path }) => path !== root && path.startsWith(prefix));
  const of = (wanted: (type: string) => boolean): readonly ByteString[] =>
    below.filter(({ type }) => wanted(type)).map(({ path }) => path);
  return {
    silentRoot: own !== undefined && isElsewhere(own.type),
    silent: of(isElsewhere),
    virtual: of((type) => VIRTUAL.has(type)),
    text: JSON.stringify([own, below.filter(({ type }) => !VIRTUAL.has(type))]),
  };
}

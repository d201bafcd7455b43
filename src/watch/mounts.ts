/** Which file systems a source lies on, and whether they tell of changes. */
import { readFileSync } from 'node:fs';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';

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

/** Others may change what is in them, and this system's kernel is not told. */
const SILENT = new Set([
  '9p',
  'afs',
  'ceph',
  'cifs',
  'coda',
  'gfs2',
  'glusterfs',
  'lustre',
  'ncpfs',
  'nfs',
  'nfs4',
  'ocfs2',
  'orangefs',
  'smb3',
  'vboxsf',
  'virtiofs',
]);

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

interface Mount {
  readonly path: ByteString;
  readonly type: string;
}

/** Where the system has no table of mounts, every file system counts as one that tells. */
export function mountsOf(root: ByteString): MountView {
  return viewOf(root, parseMounts(mountTable()));
}

function mountTable(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return '';
  }
}

/** The lines of `/proc/self/mountinfo`, in the order in which they were mounted. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const path = before.split(' ')[4];
    const type = after.split(' ')[0];
    if (path === undefined || type === undefined || type === '') return [];
    const unescaped = path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCodePoint(Number.parseInt(octal, 8)),
    );
    return [{ path: asByteString(unescaped), type }];
  });
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
    silentRoot: own !== undefined && isSilent(own.type),
    silent: of(isSilent),
    virtual: of((type) => VIRTUAL.has(type)),
    text: JSON.stringify([own, below.filter(({ type }) => !VIRTUAL.has(type))]),
  };
}

/** What runs in a program of its own (`fuse.…`) mostly stands for something far away. */
function isSilent(type: string): boolean {
  return SILENT.has(type) || type.startsWith('fuse.');
}

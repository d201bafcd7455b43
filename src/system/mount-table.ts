/** Reads the system's table of mounts. */
import { readFileSync } from 'node:fs';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';

export interface Mount {
  readonly path: ByteString;
  readonly type: string;
}

/** File systems whose content others may change without this kernel learning of it. */
const ELSEWHERE = new Set([
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
  // Of macOS.
  'afpfs',
  'ftp',
  'smbfs',
  'webdav',
]);

/** File systems whose content the kernel generates when it is read; reading some of it has side effects. */
const MADE_UP = new Set([
  'binfmt_misc',
  'bpf',
  'cgroup',
  'cgroup2',
  'configfs',
  'debugfs',
  'devfs',
  'efivarfs',
  'fusectl',
  'nsfs',
  'proc',
  'pstore',
  'rpc_pipefs',
  'securityfs',
  'selinuxfs',
  'sysfs',
  'tracefs',
]);

/** Loaded where it is needed alone, as it takes koffi. */
const ofMac = process.platform === 'darwin' ? (await import('./mac-mounts.ts')).macMountTable : undefined;

/** The text of the table; empty where the system has none. */
export function mountTable(): string {
  if (ofMac !== undefined) return ofMac();
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return '';
  }
}

/** The directories that the overlay at a path consists of, as far as its options give their absolute paths. */
export function layersOf(path: ByteString, table = mountTable()): readonly ByteString[] {
  const mount = mountOf(path, parseMounts(table));
  const line = table.split('\n').findLast((one) => parseMounts(one)[0]?.path === mount?.path);
  const options = line?.split(' - ')[1]?.split(' ')[2] ?? '';
  return options
    .split(/,(?=\w+=|\w+(?:,|$))/)
    .map((option) => /^(?:lowerdir\+?|upperdir|datadir\+?)=(.+)$/.exec(option)?.[1])
    .flatMap((paths) => paths?.split(/(?<!\\):+/) ?? [])
    .map((one) => asByteString(unescaped(one)))
    .filter((one) => one.startsWith('/'));
}

/** Parses `/proc/self/mountinfo`, in the order of mounting, and the table of macOS. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const path = before.split(' ')[4];
    const type = after.split(' ')[0];
    if (path === undefined || type === undefined || type === '') {
      const mount = macMount(line);
      return mount === undefined ? [] : [mount];
    }
    return [{ path: asByteString(unescaped(path)), type }];
  });
}

function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}

/** The mount that a path lies on: the one with the longest path, and of several at one place the last. */
export function mountOf<M extends Mount>(path: ByteString, mounts: readonly M[]): M | undefined {
  return mounts
    .filter((mount) => mount.path === '/' || mount.path === path || path.startsWith(`${mount.path}/`))
    .reduce<M | undefined>(
      (best, mount) => (best === undefined || mount.path.length >= best.path.length ? mount : best),
      undefined,
    );
}

/** Whether something is mounted at the path. False where the system has no table of mounts. */
export function isMountPoint(path: ByteString, table = mountTable()): boolean {
  return parseMounts(table).some((mount) => mount.path === path);
}

export function isMadeUp(type: string): boolean {
  return MADE_UP.has(type);
}

/** Whether the file system is remote. Those that run in a program of their own (`fuse`, `fuse.…`) mostly are. */
export function isElsewhere(type: string): boolean {
  return ELSEWHERE.has(type) || type === 'fuse' || type.startsWith('fuse.');
}

/** The table of mounts as `mount` prints it on macOS: one in a line, as in `/dev/disk3s1s1 on / (apfs, sealed, local)`. */
const MAC_LINE = /^.+? on (\/.*) \(([^(),]+)(?:, [^()]*)?\)$/;

/** The mount of one line; undefined for any other line. */
function macMount(line: string): { readonly path: ByteString; readonly type: string } | undefined {
  const [, path, type] = MAC_LINE.exec(line) ?? [];
  return path === undefined || type === undefined ? undefined : { path: asByteString(path), type };
}

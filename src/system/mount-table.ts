/** The kernel's table of what is mounted where. */
import { readFileSync } from 'node:fs';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';

export interface Mount {
  readonly path: ByteString;
  readonly type: string;
}

/** Others may change what is in them, and this system's kernel is not told. */
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
]);

/** What is read in them the kernel makes up that moment, and some of it does something when it is read. */
const MADE_UP = new Set([
  'binfmt_misc',
  'bpf',
  'cgroup',
  'cgroup2',
  'configfs',
  'debugfs',
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

/** Empty where the system has no table of mounts. */
export function mountTable(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return '';
  }
}

/** The directories that an overlay at a path is made of, as far as its options name them whole. */
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

/** The lines of `/proc/self/mountinfo`, in the order in which they were mounted. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const path = before.split(' ')[4];
    const type = after.split(' ')[0];
    if (path === undefined || type === undefined || type === '') return [];
    return [{ path: asByteString(unescaped(path)), type }];
  });
}

function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}

/** The mount that a path lies on: the longest one, and of equal ones what was mounted last. */
export function mountOf<M extends Mount>(path: ByteString, mounts: readonly M[]): M | undefined {
  return mounts
    .filter((mount) => mount.path === '/' || mount.path === path || path.startsWith(`${mount.path}/`))
    .reduce<M | undefined>(
      (best, mount) => (best === undefined || mount.path.length >= best.path.length ? mount : best),
      undefined,
    );
}

/** Something is mounted there. False where the system has no table of mounts. */
export function isMountPoint(path: ByteString, table = mountTable()): boolean {
  return parseMounts(table).some((mount) => mount.path === path);
}

export function isMadeUp(type: string): boolean {
  return MADE_UP.has(type);
}

/** What runs in a program of its own (`fuse`, `fuse.…`) mostly stands for something far away. */
export function isElsewhere(type: string): boolean {
  return ELSEWHERE.has(type) || type === 'fuse' || type.startsWith('fuse.');
}

/**
 * The Debian that is booted: that of this machine, made by `mmdebstrap` from where this machine has its packages, with its
 * own kernel and nothing of Holdfast. Made once for each recipe.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from '../servers/run-command.ts';
import { aptSources, systemCache } from './host.ts';

export interface Image {
  /** The directory of the files. */
  readonly directory: string;
  readonly kernel: string;
  readonly initrd: string;
  readonly disk: string;
}

const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'udev',
  'kmod',
  'polkitd',
  'init-system-helpers',
  'linux-image-amd64',
  'qemu-guest-agent',
  'adduser',
  'libstdc++6',
  'sudo',
  'procps',
  'psmisc',
  'util-linux',
  'mount',
  'sqlite3',
  'e2fsprogs',
  'xfsprogs',
  'btrfs-progs',
  'attr',
  'curl',
] as const;

const ROOT_SIZE = '6G';

const HOOKS = [
  // What is needed to find the root, and nothing else: half of the time of a boot under emulation.
  `--essential-hook=mkdir -p "$1/etc/initramfs-tools/conf.d"; echo MODULES=list > "$1/etc/initramfs-tools/conf.d/system-test"; printf 'virtio_pci\\nvirtio_blk\\next4\\n' > "$1/etc/initramfs-tools/modules"`,
  `--customize-hook=echo '/dev/vda / ext4 errors=remount-ro 0 1' > "$1/etc/fstab"; echo holdfast-test > "$1/etc/hostname"; echo 127.0.0.1 localhost holdfast-test > "$1/etc/hosts"`,
  `--customize-hook=mkdir -p "$1/etc/systemd/journald.conf.d" "$1/var/log/journal"; printf '[Journal]\\nStorage=persistent\\nSyncIntervalSec=5s\\nRateLimitIntervalSec=0\\n' > "$1/etc/systemd/journald.conf.d/system-test.conf"`,
  // Jobs of the machine itself would make its times and its disks differ from run to run.
  `--customize-hook=for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer systemd-timesyncd.service getty@tty1.service; do ln -sf /dev/null "$1/etc/systemd/system/$unit"; done`,
  `--customize-hook=chroot "$1" useradd --create-home --shell /bin/bash anna; chroot "$1" useradd --create-home --shell /bin/bash bert; echo 'anna ALL=(ALL) NOPASSWD: ALL' > "$1/etc/sudoers.d/anna"`,
] as const;

const DPKG = [
  'path-exclude=/usr/share/doc/*',
  'path-exclude=/usr/share/locale/*',
  'path-exclude=/usr/share/man/*',
  // Whatever the image leaves out, the package under test is there as a whole.
  'path-include=/usr/share/doc/holdfast/*',
] as const;

/** Made where it is not there yet: minutes, most of them for packages. */
export async function debianImage(say: (line: string) => void): Promise<Image> {
  const suite = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
  const recipe = JSON.stringify([suite, PACKAGES, ROOT_SIZE, HOOKS, DPKG]);
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 12);
  const directory = path.join(systemCache(), `image-${suite}-${key}`);
  if (!existsSync(directory)) await build(directory, suite, say);
  const at = (name: string): string => path.join(directory, name);
  return { directory, kernel: at('vmlinuz'), initrd: at('initrd.img'), disk: at('root.img') };
}

async function build(directory: string, suite: string, say: (line: string) => void): Promise<void> {
  say(`making a Debian ${suite} below ${directory}`);
  const growing = `${directory}.${process.pid}`;
  mkdirSync(growing, { recursive: true });
  const quoted = `'${growing}'`;
  try {
    await runCommand(
      'mmdebstrap',
      [
        '--variant=minbase',
        '--format=null',
        // As this machine asks for them, a proxy and expired lists included.
        ...(await acquireOptions()).map((option) => `--aptopt=${option}`),
        '--aptopt=APT::Install-Recommends "false"',
        '--dpkgopt=force-unsafe-io',
        ...DPKG.map((option) => `--dpkgopt=${option}`),
        `--include=${PACKAGES.join(',')}`,
        ...HOOKS,
        `--customize-hook=cp "$1"/boot/vmlinuz-* ${quoted}/vmlinuz && cp "$1"/boot/initrd.img-* ${quoted}/initrd.img`,
        // Without what is mounted in it meanwhile.
        `--customize-hook=mkdir "$1.flat" && mount --bind "$1" "$1.flat" && /sbin/mke2fs -q -F -t ext4 -d "$1.flat" ${quoted}/root.img ${ROOT_SIZE} && umount "$1.flat" && rmdir "$1.flat"`,
        suite,
        '/dev/null',
        ...aptSources(),
      ],
      { timeoutMs: 1_800_000 },
    );
    renameSync(growing, directory);
  } finally {
    rmSync(growing, { recursive: true, force: true });
  }
}

async function acquireOptions(): Promise<readonly string[]> {
  const dump = await runCommand('apt-config', ['dump', '--no-empty', 'Acquire']);
  return dump.split('\n').filter((line) => /^Acquire::(?:Check-|http|https|Retries|ForceIPv4)/.test(line));
}

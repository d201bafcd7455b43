import { describe, expect, test } from 'vitest';
import { otherDisks } from '../../../src/daemon/page/suggestions.ts';

function table(...lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

const SYSTEM = '22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw';

describe('disks beside that of the system', () => {
  test('are those that are mounted from a device or a network, once each', () => {
    const mounts = table(
      SYSTEM,
      '30 22 8:17 / /media/ana/My\\040Disk rw,nosuid - exfat /dev/sdb1 rw',
      '31 22 8:17 / /mnt/same rw - exfat /dev/sdb1 rw',
      '32 22 0:50 / /mnt/nas rw - cifs //nas/share rw',
      '33 22 0:51 /export/ana /mnt/nfs rw - nfs4 nas:/export/ana rw',
      '34 22 8:33 / /run/media/ana/stick rw - vfat /dev/sdc1 rw',
    );
    expect(otherDisks(mounts)).toEqual([
      { path: '/media/ana/My Disk', isNetwork: false },
      { path: '/mnt/nas', isNetwork: true },
      { path: '/mnt/nfs', isNetwork: true },
      { path: '/run/media/ana/stick', isNetwork: false },
    ]);
  });

  test.each([
    ['another mount of the disk of the system', '30 22 8:2 /srv /mnt/srv rw - ext4 /dev/sda2 rw'],
    ['what starts the system', '30 22 8:1 / /boot/efi rw - vfat /dev/sda1 rw'],
    ['what cannot be written', '30 22 8:17 / /mnt/dvd ro - ext4 /dev/sdb1 ro'],
    ['packages', '30 22 7:1 / /snap/core/1 rw - squashfs /dev/loop1 ro'],
    ['memory', '30 22 0:40 / /mnt/fast rw - tmpfs tmpfs rw'],
    ['what the system keeps for itself', '30 22 8:3 / /var rw - ext4 /dev/sda3 rw'],
    ['a part of a disk that is mounted elsewhere', '30 22 8:17 /x /mnt/x rw - ext4 /dev/sdb1 rw'],
    ['a name that is not UTF-8', '30 22 8:17 / /mnt/\u00ff\u00fe rw - ext4 /dev/sdb1 rw'],
    ['nonsense', 'nonsense'],
    ['nothing', ''],
  ])('are not %s', (_what, line) => {
    expect(otherDisks(table(SYSTEM, line))).toEqual([]);
  });
});

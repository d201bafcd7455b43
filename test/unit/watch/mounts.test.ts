import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { parseMounts } from '../../../src/system/mount-table.ts';
import { mountsOf, viewIn, viewOf } from '../../../src/watch/mounts.ts';

const table = [
  '22 27 0:21 / /proc rw,relatime - proc proc rw',
  '27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
  '30 27 0:30 / /srv/share rw - nfs4 server:/export rw',
  String.raw`31 27 0:31 / /home/a\040b/far rw - fuse.sshfs host: rw`,
  '32 27 0:32 / /srv/disk rw - btrfs /dev/vdb rw',
].join('\n');
const mounts = parseMounts(`${table}\n`);
const view = (root: string): ReturnType<typeof viewOf> => viewOf(asByteString(root), mounts);

describe('the file systems of a source', () => {
  test('are those it lies on and those mounted below it', () => {
    expect(view('/')).toMatchObject({
      silentRoot: false,
      silent: ['/srv/share', '/home/a b/far'],
      virtual: ['/proc'],
      telling: ['/srv/disk'],
    });
    expect(view('/srv')).toMatchObject({ silentRoot: false, silent: ['/srv/share'], virtual: [] });
    expect(view('/home/a b')).toMatchObject({ silentRoot: false, silent: ['/home/a b/far'] });
    expect(view('/srv/disk/x')).toMatchObject({ silentRoot: false, silent: [] });
  });

  test('are others when another directory of the same disk is mounted in the place of one', () => {
    const bound = (facts: string): string => `${table}\n${facts} /srv/data rw,relatime - ext4 /dev/vda rw\n`;
    const text = (facts: string): string => viewIn(asByteString('/srv'), bound(facts)).text;
    expect(text('40 27 254:0 /one')).toBe(text('40 27 254:0 /one'));
    expect(new Set(['40 27 254:0 /one', '40 27 254:0 /two', '41 27 254:0 /one'].map(text)).size).toBe(3);
  });

  test('do not tell of changes when they are far away', () => {
    expect(view('/srv/share').silentRoot).toBe(true);
    expect(view('/srv/share/deep').silentRoot).toBe(true);
    expect(view('/srv/shared').silentRoot).toBe(false);
    expect(view('/home/a b/far/x').silentRoot).toBe(true);
  });

  test('are compared by what matters to the source', () => {
    const more = parseMounts(`${table}\n40 27 0:40 / /srv/disk/new rw - xfs /dev/vdc rw`);
    expect(viewOf(asByteString('/home'), more).text).toBe(view('/home').text);
    expect(viewOf(asByteString('/srv'), more).text).not.toBe(view('/srv').text);
  });

  test.runIf(process.platform === 'linux')('are read from the system', () => {
    expect(mountsOf(asByteString('/')).virtual).toContain('/proc');
  });
});

import { expect, test } from 'vitest';
import { shownDestination } from '../../../../src/api/presentation/values.ts';

test.each([
  ['default', 'default'],
  ['/mnt/backup', '/mnt/backup'],
  ['file:///mnt/backup', 'file:///mnt/backup'],
  ['sftp://ana@host:22/dir', 'sftp://ana@host:22/dir'],
  ['sftp://ana:geheim@host:22/dir', 'sftp://ana@host:22/dir'],
  ['webdavs://:geheim@host/dir', 'webdavs://host/dir'],
  ['sftp://ana:ge@heim@host/dir', 'sftp://ana@host/dir'],
  ['s3://bucket/x?endpoint=h&secret=geheim&region=eu', 's3://bucket/x?endpoint=h&region=eu'],
  ['s3://bucket?token=geheim', 's3://bucket'],
  ['s3://bucket/x#geheim', 's3://bucket/x'],
])('%s is shown as %s', (destination, shown) => {
  expect(shownDestination(destination)).toBe(shown);
});

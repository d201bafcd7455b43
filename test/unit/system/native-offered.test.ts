import { expect, test } from 'vitest';
import { libc, libcMissing } from '../../../src/system/libc.ts';
import { native, nativeMissing } from '../../../src/system/native.ts';

// The tests of native calls are skipped where there are none. Where there have to be some, that must not look like success.
test.runIf(process.platform === 'linux' || process.platform === 'darwin')(
  'the calls that Node lacks are there on Linux and macOS',
  () => {
    expect([nativeMissing, libcMissing]).toEqual(['', '']);
    expect([native === null, libc === null]).toEqual([false, false]);
  },
);

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cleanPages, returnSpareMemory } from '../../../src/system/spare-memory.ts';

const SMAPS = `00400000-00f00000 r--p 00000000 fd:00 17   /usr/bin/node
Rss:                 100 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
00f00000-04000000 r-xp 00b00000 fd:00 17   /usr/bin/node
Private_Dirty:         0 kB
Anonymous:             0 kB
04000000-04100000 r--p 03c00000 fd:00 17   /usr/bin/node
Private_Dirty:       100 kB
Anonymous:           100 kB
04100000-04200000 r--p 03d00000 fd:00 17   /usr/bin/node
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  4 kB
04200000-04300000 rw-p 03e00000 fd:00 17   /usr/bin/node
Anonymous:             0 kB
04300000-05300000 rw-p 00000000 00:00 0    [heap]
Anonymous:           100 kB
7f0000000000-7f0000200000 r-xp 00000000 fd:00 18   /usr/lib/libc.so.6
Anonymous:             0 kB
`;

test('of a program only what is as in its file may be dropped', () => {
  expect(cleanPages(SMAPS, '/usr/bin/node')).toEqual([
    { start: 0x400000, end: 0xf00000 },
    { start: 0xf00000, end: 0x4000000 },
  ]);
  expect(cleanPages(SMAPS, '/usr/bin/other')).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'memory that is given back is no longer resident, and all goes on',
  () => {
    const resident = (): number =>
      Number(/^Rss: +(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'latin1'))?.[1]);
    let rubbish: unknown[] | undefined = Array.from({ length: 300_000 }, (_, n) => ({ n, text: `${n}` }));
    expect(rubbish).toHaveLength(300_000);
    const before = resident();
    rubbish = undefined;
    returnSpareMemory();
    expect(resident()).toBeLessThan(before - 20_000);
    expect(JSON.parse(JSON.stringify({ it: 'goes on' }))).toEqual({ it: 'goes on' });
  },
);

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createPresence } from '../../../src/daemon/places/presence.ts';
import { removeTree } from '../../support/remove-tree.ts';

test('a directory of this machine is there or not, as it is just now', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-presence-'));
  try {
    const isThere = createPresence(systemClock);
    const disk = join(directory, 'disk');
    expect(isThere(disk)).toBe(false);
    mkdirSync(disk);
    expect(isThere(disk)).toBe(true);
    rmSync(disk, { recursive: true });
    expect(isThere(disk)).toBe(false);
  } finally {
    removeTree(directory);
  }
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Catalogs } from '../../../src/daemon/catalogs.ts';
import type { Destinations, Place } from '../../../src/daemon/destinations.ts';
import { removeTree } from '../../support/remove-tree.ts';

test('a catalog that cannot be opened is told of and fails nothing', async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-catalogs-'));
  const inTheWay = join(stateDirectory, 'catalog');
  writeFileSync(inTheWay, '');
  const told: unknown[] = [];
  const destinations = {
    repositoryId: () => '0'.repeat(32),
    open: async () => await Promise.reject(new Error('opened')),
  } as unknown as Destinations;
  const place = { name: 'default', url: 'file:///nowhere' } as unknown as Place;
  const trouble = (error: unknown): void => {
    told.push(error);
  };
  try {
    await using catalogs = new Catalogs({
      clock: systemClock,
      stateDirectory,
      destinations,
      weakCost: false,
      trouble,
    });
    catalogs.update(place);
    expect(told).toMatchObject([{ code: 'READ_ERROR' }]);

    rmSync(inTheWay);
    catalogs.update(place);
    await expect.poll(() => told, { timeout: 30_000 }).toMatchObject([{}, { message: 'opened' }]);
  } finally {
    removeTree(stateDirectory);
  }
});

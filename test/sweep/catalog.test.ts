/** The property of test/property/catalog.test.ts for SWEEP_HISTORIES (300) random histories. */
import { test, vi } from 'vitest';
import { judgeCatalogs } from '../support/catalog-property.ts';
import { sweepCount } from './settings.ts';

// So few names fill a block that most catalogs here have many.
vi.mock('../../src/catalog/tables/name-block.ts', async (original) => ({
  ...(await original<typeof import('../../src/catalog/tables/name-block.ts')>()),
  NAMES_PER_BLOCK: 3,
}));

test('the catalog answers like the trees, whatever happened', async () => {
  await judgeCatalogs(sweepCount('SWEEP_HISTORIES', 300));
});

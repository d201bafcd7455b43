/** Whatever happens in a repository, the catalog answers what its trees say. */
// Turn 5 of 8.
import { it, vi } from 'vitest';
import { judgeCatalogs } from '../support/catalog-property.ts';

// So few names fill a block that most catalogs here have many.
vi.mock('../../src/catalog/tables/name-block.ts', async (original) => ({
  ...(await original<typeof import('../../src/catalog/tables/name-block.ts')>()),
  NAMES_PER_BLOCK: 3,
}));

it('answers like the trees, whatever was made, changed, moved, forgotten and interrupted', async () => {
  await judgeCatalogs(10);
});

import { expect, it } from 'vitest';
import { isDamagedCatalog } from '../../../src/catalog/catalog-database.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture } from './catalog-fixture.ts';

it.each([
  ['tags', '['],
  ['tags', '5'],
  ['tags', '[1]'],
  ['paths', ''],
  ['paths', '{"a":"b"}'],
])('a catalog whose %s are %j is damaged, so that it is made anew', async (column, value) => {
  using fixture = await openFixture();
  await fixture.commit(directory({ a: file('1') }));
  await fixture.sync();
  expect(fixture.reader.snapshots({ limit: 5 })).toHaveLength(1);
  fixture.database.prepare(`UPDATE snapshot SET ${column} = ?`).run(value);
  let failure: unknown;
  try {
    fixture.reader.snapshots({ limit: 5 });
  } catch (error) {
    failure = error;
  }
  expect(isDamagedCatalog(failure)).toBe(true);
});

import { readdirSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isDamagedCatalog } from '../../../src/catalog/tables/catalog-database.ts';
import { CatalogReader } from '../../../src/catalog/answers/catalog-reader.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { isMoment } from '../../../src/catalog/answers/known-snapshots.ts';
import { momentOf } from '../../../src/jobs/agent.ts';
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

it.runIf(process.platform === 'linux')('a catalog that lacks a table is not left open', async () => {
  using fixture = await openFixture();
  const { path } = fixture;
  const opened = (): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path;
      } catch {
        // The descriptor of this very list.
        return false;
      }
    }).length;
  fixture.database.exec('DROP TABLE meta');
  const before = opened();
  for (let i = 0; i < 5; i += 1) expect(() => new CatalogReader(path)).toThrow('no such table');
  // SQLite keeps a descriptor of a closed connection for as long as another one of the process holds a lock.
  expect(opened()).toBeLessThanOrEqual(before + 1);
});

it('the beginning of an id is no time, though it has digits alone', () => {
  expect(['latest', momentOf(0), momentOf(-5), momentOf(1_600_000_000_000)].every(isMoment)).toBe(true);
  expect(['87475862', '8747586233', '-1', 'a', '@', '@x'].some(isMoment)).toBe(false);
});

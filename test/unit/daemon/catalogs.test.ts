import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Catalogs } from '../../../src/daemon/snapshots/catalogs.ts';
import type { Destinations, Place } from '../../../src/daemon/places/destinations.ts';
import { removeTree } from '../../support/remove-tree.ts';

test('a catalog that cannot be opened is told of and fails nothing', async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-catalogs-'));
  const inTheWay = join(stateDirectory, 'catalog');
  writeFileSync(inTheWay, '');
  const told: unknown[] = [];
  const destinations = {
    repositoryId: () => '0'.repeat(32),
    reachOf: (url: string) => url,
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
      repositories: { all: () => [] },
      weakCost: false,
      claimed: () => undefined,
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

test('of all catalogs one that cannot be opened fails the question, whose answer would be less than the whole', async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-catalogs-'));
  const [here, away] = ['0'.repeat(32), '1'.repeat(32)];
  const inTheWay = join(stateDirectory, 'catalog', `${away}.db`);
  mkdirSync(inTheWay, { recursive: true });
  const told: unknown[] = [];
  const placeAt = (url: string): Place => ({ name: url, url }) as unknown as Place;
  const ids = new Map([
    ['file:///here', here],
    ['file:///away', away],
  ]);
  const destinations = {
    all: () => [],
    find: placeAt,
    standard: () => placeAt('file:///here'),
    repositoryId: ({ url }: Place) => ids.get(url),
    reachOf: (url: string) => url,
  } as unknown as Destinations;
  try {
    await using catalogs = new Catalogs({
      clock: systemClock,
      stateDirectory,
      destinations,
      repositories: { all: () => [...ids].map(([url, repositoryId]) => ({ url, repositoryId, since: 0 })) },
      weakCost: false,
      claimed: () => undefined,
      trouble: (error) => {
        told.push(error);
      },
    });
    const holdings = async (): Promise<unknown> =>
      await catalogs.askAll(async ({ place, catalog }) => [place.url, await catalog.holdings()]);
    await expect(holdings()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(told).toMatchObject([{ code: 'READ_ERROR' }]);
    // Others that know answer all the same.
    expect(await catalogs.ask(async ({ place }) => await Promise.resolve(place.url))).toBe('file:///here');
    const last = async (): Promise<unknown> =>
      await catalogs.ask(async ({ catalog }) => await catalog.snapshot('f'.repeat(64)));
    await expect(last()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });

    rmdirSync(inTheWay);
    const none = { snapshots: 0, bytes: 0, incomplete: 0 };
    expect(await holdings()).toEqual([
      ['file:///here', none],
      ['file:///away', none],
    ]);
    await expect(last()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
  } finally {
    removeTree(stateDirectory);
  }
});

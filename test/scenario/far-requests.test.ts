/**
 * How often a far destination is asked: counted by an S3 store in this process, from the program's start to its end.
 * The table of docs/destinations.md says the same.
 */
// Turn 8 of 8.
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/command/exit-codes.ts';
import { openPlace, type Place } from '../support/cli.ts';
import { startS3Store, type S3Store, type StoreRequest } from '../support/s3-store.ts';

interface Site extends AsyncDisposable {
  readonly store: S3Store;
  readonly place: Place;
  readonly env: Readonly<Record<string, string>>;
  /** Runs the program on the bucket and tells what it asked for. */
  asked(words: readonly string[]): Promise<readonly string[]>;
  /** The same of a backup of a source in which nothing has changed. */
  unchanged(words: readonly string[]): Promise<readonly string[]>;
}

async function openSite(): Promise<Site> {
  const store = await startS3Store();
  const place = await openPlace();
  const env = {
    HOLDFAST_REPOSITORY: `s3://bucket/laptop?endpoint=${store.endpoint}`,
    AWS_ACCESS_KEY_ID: 'AKTEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  const asked: Site['asked'] = async (words) => {
    store.requests.length = 0;
    await place.expectRun(words, 0, { env });
    return store.requests.map(described).toSorted();
  };
  // A directory above the source, which all tests share, may change at any time, and is then stored anew.
  const unchanged: Site['unchanged'] = async (words) =>
    (await asked(words)).filter((one) => !/^(?:PUT|HEAD) (?:packs|index)$/.test(one));
  await asked(['init']);
  mkdirSync(join(place.source, 'd'));
  writeFileSync(join(place.source, 'd', 'f'), 'hello');
  return {
    store,
    place,
    env,
    asked,
    unchanged,
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** `GET snapshots`: the method, and where; of lists what they begin with. */
function described({ method, key, query }: StoreRequest): string {
  if (key === '') return `LIST ${(query.get('prefix') ?? '').replace('laptop/', '')}`.trim();
  return `${method} ${key.replace('laptop/', '').replace(/\/.*/, '')}`;
}

/** What opening a place costs: whether these credentials may delete, and what the store can do. */
const OPENING = ['DELETE HOLDFAST-TRIAL-delete', 'GET HOLDFAST-STORE'];

/** More objects than one request lists, which mean nothing to a repository. */
function fill({ objects }: S3Store): void {
  for (let n = 0; n < 1100; n += 1) {
    const key = `laptop/packs/00/not-a-pack-${n}`;
    objects.set(key, { body: Buffer.from('x'), ms: Date.now() });
  }
}

test('an unchanged backup to a bucket takes 13 requests, and looking around with warm copies 3', async () => {
  await using site = await openSite();
  const { place, asked, unchanged } = site;
  const backup = ['backup', place.source];
  await asked(backup);
  appendFileSync(join(place.source, 'd', 'f'), ' there');
  await asked(backup);
  expect(await unchanged(backup)).toEqual(
    [
      ...OPENING,
      'LIST',
      'PUT leases',
      'HEAD leases',
      'LIST trash/',
      'LIST packs/',
      'LIST snapshots/',
      'PUT snapshots',
      'HEAD snapshots',
      'PUT heads',
      'HEAD heads',
      'DELETE leases',
    ].toSorted(),
  );
  for (const words of [
    ['ls', '-R', 'latest'],
    ['find', 'f*'],
    ['diff', 'latest~2', 'latest'],
  ])
    expect(await asked(words), words[0]).toEqual([...OPENING, 'LIST']);

  // More than one request lists: the copies of key files are asked about, and rings and configurations that are newer.
  fill(site.store);
  expect(await unchanged(backup)).toHaveLength(13 + 2);
  const keyFiles = ['HEAD config', 'HEAD config', 'HEAD keys', 'HEAD keys', 'HEAD keys', 'HEAD keys'];
  expect(await asked(['ls', 'latest'])).toEqual([...OPENING, ...keyFiles, 'LIST snapshots/', 'LIST trash/']);

  // Copies open nothing that the destination shows no more.
  expect(readdirSync(join(place.state, 'cache')).some((name) => name.endsWith('.keys'))).toBe(true);
  for (const key of site.store.objects.keys())
    if (/keys\/[0-9a-f]{32}$/.test(key)) site.store.objects.delete(key);
  const { stderr } = await site.place.expectRun(['ls', 'latest'], EXIT.noRepository, { env: site.env });
  expect(stderr).toContain('There is no repository');
});

test('without copies on this machine looking around reads what it needs, once', async () => {
  await using site = await openSite();
  const { place, asked } = site;
  await asked(['backup', place.source]);
  rmSync(join(place.state, 'cache'), { recursive: true });
  const cold = await asked(['ls', 'latest']);
  expect(cold.filter((one) => one === 'GET keys')).toHaveLength(3);
  expect(cold).toContain('GET config');
  expect(cold).toContain('GET snapshots');
  expect(cold).toContain('GET packs');
  expect(await asked(['ls', 'latest'])).toEqual([...OPENING, 'LIST']);
});

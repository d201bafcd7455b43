import { expect, test } from 'vitest';
import { FULL_KEYS } from '../../../src/base/stored-by.ts';
import type { Catalog } from '../../../src/catalog/catalog.ts';
import type { KnownCatalog } from '../../../src/daemon/snapshots/catalogs.ts';
import type { Place } from '../../../src/daemon/places/destinations.ts';
import { snapshotQuestions, type SnapshotQuestions } from '../../../src/daemon/snapshots/questions.ts';
import type { NewestRequest } from '../../../src/jobs/agent.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture, type Fixture } from '../catalog/catalog-fixture.ts';

interface Kept {
  readonly id: string;
  readonly host: string;
  readonly created_at: number;
}

const AWAY = 'place 2';

/** Of repositories whose catalogs know these snapshots of one source. */
function questionsTo(...repositories: readonly (readonly Kept[])[]): SnapshotQuestions {
  const known = repositories.map((kept, i) => ({
    repositoryId: String(i),
    place: { name: `place ${i}` } as Place,
    catalog: {
      snapshots: async () => await Promise.resolve(kept),
      newest: async ({ host, until }: NewestRequest) =>
        await Promise.resolve(
          kept
            .filter((one) => host === undefined || one.host === host)
            .filter((one) => until === undefined || one.created_at <= until)
            .slice(0, 1)
            .map((one) => ({ ...one, stored_by: FULL_KEYS })),
        ),
    } as unknown as Catalog,
  }));
  return questionsOf(known);
}

/** Of the catalogs of hand-made repositories. */
function questionsAbout(...fixtures: readonly Fixture[]): SnapshotQuestions {
  return questionsOf(
    fixtures.map(({ reader }, i) => ({
      repositoryId: String(i),
      place: { name: `place ${i}` } as Place,
      catalog: reader as unknown as Catalog,
    })),
  );
}

function questionsOf(known: readonly KnownCatalog[]): SnapshotQuestions {
  return snapshotQuestions({
    host: 'desk',
    jobs: { get: () => undefined },
    destinations: { find: () => expect.fail(), isPresent: ({ name }) => name !== AWAY },
    catalogs: {
      ask: () => expect.fail(),
      askOf: async (id, question) => {
        const of = known.find(({ repositoryId }) => repositoryId === id);
        return of === undefined ? undefined : await question(of);
      },
      askAll: async (question) => await Promise.all(known.map(question)),
      update: () => undefined,
    },
    reading: { archive: () => expect.fail(), content: () => expect.fail(), forget: () => expect.fail() },
    drills: { with: (snapshot) => snapshot },
  });
}

test('the newest snapshot of a source is that of this machine, wherever it lies', async () => {
  const agent = questionsTo(
    [
      { id: 'd', host: 'laptop', created_at: 4 },
      { id: 'a', host: 'desk', created_at: 1 },
    ],
    [
      { id: 'c', host: 'desk', created_at: 3 },
      { id: 'b', host: 'laptop', created_at: 2 },
    ],
  );
  expect(await agent.newestOf('/etc', undefined)).toMatchObject({ id: 'c', destination: 'place 1' });
  expect(await agent.newestOf('/etc', 3)).toMatchObject({ id: 'c' });
  expect(await agent.newestOf('/etc', 2)).toMatchObject({ id: 'a', destination: 'place 0' });
});

test('of copies of one time that of the first destination which is there is the newest', async () => {
  const copy = (id: string): readonly Kept[] => [{ id, host: 'desk', created_at: 1 }];
  expect(await questionsTo(copy('a'), copy('b')).newestOf('/etc', undefined)).toMatchObject({ id: 'a' });
  expect(await questionsTo(copy('b'), copy('a')).newestOf('/etc', undefined)).toMatchObject({ id: 'b' });
  const away = questionsTo([], [], copy('c'), copy('a'));
  expect(await away.newestOf('/etc', undefined)).toMatchObject({ id: 'a', destination: 'place 3' });
  expect(await away.snapshot('latest')).toMatchObject({ id: 'a', destination: 'place 3' });
  expect(await questionsTo([], [], copy('c')).newestOf('/etc', undefined)).toMatchObject({ id: 'c' });
});

test('the newest of this machine is asked for apart, and never that of another one', async () => {
  const theirs = { id: 'd', host: 'laptop', created_at: 4 };
  const agent = questionsTo([theirs, { id: 'a', host: 'desk', created_at: 1 }]);
  expect(await agent.snapshot('latest')).toMatchObject({ id: 'd' });
  expect(await agent.snapshot('latest', undefined, true)).toMatchObject({ id: 'a' });
  await expect(questionsTo([theirs]).snapshot('latest', undefined, true)).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_FOUND',
    message: 'This machine (desk) has no snapshot, but laptop has',
    hint: expect.stringContaining('snapshot_id: d'),
  });
});

test('what only other machines saved is not given for it, but named', async () => {
  const agent = questionsTo([{ id: 'd', host: 'laptop', created_at: 4 }]);
  await expect(agent.newestOf('/etc', undefined)).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_FOUND',
    message: expect.stringContaining('This machine (desk) has no snapshot of /etc, but laptop has'),
    hint: expect.stringContaining('snapshot_id: d'),
  });
  await expect(agent.newestOf('/etc', 3)).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_FOUND',
    message: expect.stringContaining('There is no snapshot of /etc from before that time'),
  });
});

test('where a clock was far ahead once, the newest is what was made last, and not what bears the latest time', async () => {
  using fixture = await openFixture();
  const now = Date.UTC(2026, 9, 1);
  const day = 86_400_000;
  const source = { host: 'desk' };
  await fixture.commit(directory({ letter: file('before') }), { ...source, startedMs: now - day });
  const ahead = await fixture.commit(directory({ letter: file('old') }), {
    ...source,
    startedMs: now + 400 * day,
  });
  const right = await fixture.commit(directory({ letter: file('the newest') }), {
    ...source,
    startedMs: now,
  });
  await fixture.sync();
  const agent = questionsAbout(fixture);

  expect(await agent.newestOf('/', undefined)).toMatchObject({ id: right.id });
  expect(await agent.snapshot('latest')).toMatchObject({ id: right.id });
  const { items } = await agent.files({ snapshot: 'latest', view: 'flat', sort: 'path', limit: 9 });
  expect(items).toMatchObject([{ path: '/letter', snapshot_id: right.id }]);
  // Who names a time means the times.
  expect(await agent.newestOf('/', now + 500 * day)).toMatchObject({ id: ahead.id });
});

test('snapshots are listed of all repositories, also of those that are away, or of one destination', async () => {
  const kept = (id: string, at: number): readonly Kept[] => [{ id, host: 'desk', created_at: at }];
  const agent = questionsTo(kept('a', 1), kept('b', 2), kept('c', 3));
  expect((await agent.snapshots({ limit: 9 })).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  const [only, ...others] = await agent.snapshots({ limit: 9, destination: AWAY });
  expect([only?.id, others]).toEqual(['c', []]);
  expect(await agent.snapshots({ limit: 9, destination: 'nas' })).toEqual([]);
});

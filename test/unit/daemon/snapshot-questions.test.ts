import { expect, test } from 'vitest';
import type { Catalog } from '../../../src/catalog/catalog.ts';
import type { Place } from '../../../src/daemon/destinations.ts';
import { snapshotQuestions, type SnapshotQuestions } from '../../../src/daemon/snapshot-questions.ts';
import type { SnapshotRequest } from '../../../src/jobs/agent.ts';

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
      snapshots: async ({ host, limit, behind }: SnapshotRequest) =>
        await Promise.resolve(
          kept
            .filter((one) => host === undefined || one.host === host)
            .filter((one) => behind === undefined || one.created_at < behind.created_at)
            .slice(0, limit),
        ),
    } as unknown as Catalog,
  }));
  return snapshotQuestions({
    host: 'desk',
    jobs: { get: () => undefined },
    destinations: { find: () => expect.fail(), isPresent: ({ name }) => name !== AWAY },
    catalogs: {
      ask: () => expect.fail(),
      askOf: () => expect.fail(),
      askAll: async (question) => await Promise.all(known.map(question)),
      update: () => undefined,
    },
    reading: { content: () => expect.fail(), forget: () => expect.fail() },
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

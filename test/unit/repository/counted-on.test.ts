/** Rules forget what others that stay make needless: these have to stay. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { rewriteSnapshot } from '../../../src/repository/renew/replace-snapshot.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const clock = manualClock();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const { signal } = new AbortController();

let memory: Destination;
let repository: Repository;
let older: Snapshot;
let newer: Snapshot;
/** Awaited before the n-th list of tombstones. */
let beforeList: (nth: number) => Promise<void>;

beforeEach(async () => {
  beforeList = async () => {};
  memory = createMemoryDestination();
  let lists = 0;
  const hooked = hookedDestination(memory, {
    list: async (prefix) => {
      if (prefix !== 'trash/') return;
      lists += 1;
      await beforeList(lists);
    },
  });
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  repository = await createRepository(hooked, options, signal);
  older = await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
  newer = await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
  lists = 0;
});

const others = async (): Promise<Repository> =>
  await openRepository(memory, secret, { clock, stateDirectory: undefined, allowWeakCost: true }, signal);

const forgetOlder = async (): Promise<void> =>
  await forgetSnapshots(repository, [older.id], 'removed by rules', signal, { countingOn: [newer.id] });

const liveNow = async (): Promise<readonly string[]> =>
  (await listSnapshots(await others(), signal)).live.map(({ id }) => id);

describe('what is forgotten because others stay', () => {
  it('goes while these are there', async () => {
    await forgetOlder();
    expect(await liveNow()).toEqual([newer.id]);
  });

  it.each([1, 2])('goes when one of these only got other tags before list %i', async (list) => {
    beforeList = async (nth) => {
      if (nth === list) await rewriteSnapshot(await others(), newer, { tags: ['other'] }, signal);
    };
    await forgetOlder();
    const live = await liveNow();
    expect(live).toHaveLength(1);
    expect(live).not.toContain(older.id);
  });

  it.each([
    ['before the list is read', 1],
    ['after that', 2],
    ['before the tombstone is stored', 3],
  ])('stays when one of these was forgotten %s', async (_when, list) => {
    beforeList = async (nth) => {
      if (nth === list) await forgetSnapshots(await others(), [newer.id], 'by hand', signal);
    };
    await expect(forgetOlder()).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
      retry: 'later',
      message: `Somebody else removed snapshot ${newer.id}, which was to be kept`,
    });
    expect(await liveNow()).toEqual([older.id]);
    // Nothing of the attempt is left that would be in the way of what is done next.
    beforeList = async () => {};
    const third = await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
    expect(await liveNow()).toEqual([older.id, third.id]);
  });
});

/** Lists that lag: what somebody stored a moment ago is there for whoever asks for it, and in no list yet. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { listEverySnapshot } from '../../../src/repository/chains/whole-list.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const clock = manualClock();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };

let memory: Destination;
/** In no list, and how many of their names were asked for in a list since. */
let hidden: Set<string>;
let hides: number;
let repository: Repository;
let other: Repository;

beforeEach(async () => {
  const stored = createMemoryDestination();
  hidden = new Set();
  hides = 0;
  memory = {
    ...stored,
    async *list(prefix, stop) {
      for await (const page of stored.list(prefix, stop)) {
        const shown = page.filter(({ key }) => !hidden.has(key));
        hides += page.length - shown.length;
        yield shown;
      }
    },
  };
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  repository = await createRepository(memory, options, signal);
  other = await open();
});

async function open(): Promise<Repository> {
  return await openRepository(
    memory,
    secret,
    { clock, stateDirectory: undefined, allowWeakCost: true },
    signal,
  );
}

async function keysNow(): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of memory.list('', signal)) keys.push(...page.map(({ key }) => key));
  return keys;
}

/** From now on lists are as they were before the work. */
async function unlisted(work: () => Promise<unknown>): Promise<void> {
  const before = new Set(await keysNow());
  await work();
  hidden = new Set((await keysNow()).filter((key) => !before.has(key)));
}

const backup = async (by: Repository): Promise<string> =>
  (await tinyBackup(by, { file: randomBytes(100) }, {}, signal)).id;

const listed = async (): Promise<readonly string[]> => {
  const { live } = await listEverySnapshot(await open(), 'the rules remove nothing', signal);
  return live.map(({ id }) => id).sort();
};

describe('who decides by what there is', () => {
  it('learns of a tombstone that no list shows yet, nor its head', async () => {
    const first = await backup(repository);
    await backup(repository);
    await backup(other);
    await unlisted(async () => await forgetSnapshots(other, [first], 'test', signal));
    await expect(listed()).rejects.toThrow(/record 2 of writer [0-9a-f]{32} is gone/);
    expect(hides).toBeGreaterThanOrEqual(4);
  });

  it('learns of a snapshot that no list shows yet, nor its head', async () => {
    await backup(repository);
    await unlisted(async () => await backup(repository));
    await expect(listed()).rejects.toThrow('record 2');
  });

  it('goes on when the record is in the list, and its head is not', async () => {
    const all = [await backup(repository), await backup(other)];
    await unlisted(async () => all.push(await backup(other)));
    for (const key of hidden) if (key.startsWith('snapshots/')) hidden.delete(key);
    expect(await listed()).toEqual(all.sort());
    expect(hides).toBeGreaterThan(0);
  });

  it('goes on when lists show it at the second look', async () => {
    const all = [await backup(repository)];
    await unlisted(async () => all.push(await backup(repository)));
    const { get } = memory;
    memory.get = async (key, range, stop) => {
      if (key.startsWith('heads/') && hidden.has(key)) hidden = new Set();
      return await get(key, range, stop);
    };
    expect(await listed()).toEqual(all.sort());
    expect(hides).toBeGreaterThan(0);
  });
});

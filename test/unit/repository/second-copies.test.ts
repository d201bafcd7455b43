/** One damaged file must not take everything with it: see what opens the repository lies there twice. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { putConfig } from '../../../src/repository/configuration.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, removeKey, rotateKeys } from '../../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { recover } from '../../../src/repository/check/recover.ts';
import { SILENT_REKEY, rekey } from '../../../src/repository/renew/rekey.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { listSnapshots } from '../../../src/repository/snapshots.ts';
import { copyKey, deleteTwice, listCopied } from '../../../src/repository/objects/second-copies.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const GRACE = 72 * HOUR;
const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
const secret: Secret = { kind: 'passphrase', text: 'four words' };

let clock: ManualClock;
let stateDirectory: string;
/** Without what happens when something is stored. */
let memory: Destination;
let destination: Destination;
/** What it throws is the failure. */
let beforePut: (key: string) => void;
let repository: Repository;
let saved: ReadonlyMap<string, TinyTree>;

/** Keys and configuration have changed since the repository was made, and something is sealed under the new keys. */
beforeEach(async () => {
  clock = manualClock();
  stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-second-copies-'));
  memory = createMemoryDestination(() => clock.now());
  beforePut = () => {};
  destination = hookedDestination(memory, { put: async (key) => await Promise.resolve(beforePut(key)) });
  const options = { clock, stateDirectory, secrets: [{ secret, label: 'test' }], cost };
  repository = await createRepository(destination, options, signal);
  await putConfig(repository, { ...repository.config, graceSeconds: GRACE / 1_000 - 1 }, 2, signal);
  const first = await backup();
  await rotateKeys(repository, signal);
  saved = new Map([first, await backup()]);
});

afterEach(() => {
  rmSync(stateDirectory, { recursive: true });
});

async function backup(): Promise<[string, TinyTree]> {
  const tree: TinyTree = { file: randomBytes(2_000) };
  const { id } = await tinyBackup(repository, tree, {}, signal);
  await clock.advance(1_000);
  return [id, tree];
}

/** By this machine, or by one that has not seen the repository. */
async function open(by: 'this machine' | 'another', opener = secret): Promise<Repository> {
  const remembered =
    by === 'this machine' ? stateDirectory : join(stateDirectory, randomBytes(4).toString('hex'));
  const options = { clock, stateDirectory: remembered, allowWeakCost: true };
  return await openRepository(destination, opener, options, signal);
}

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of memory.list(prefix, signal)) keys.push(...page.map(({ key }) => key));
  return keys.sort();
}

const slotKey = (): string => `keys/${repository.slot.slot}`;
const OBJECTS: readonly (readonly [string, () => string])[] = [
  ['the slot', slotKey],
  ['the keyring in force', () => 'keys/ring-2'],
  ['the configuration in force', () => 'config/2'],
];

type Harm = 'damaged' | 'cut short' | 'gone';

async function harm(key: string, how: Harm): Promise<void> {
  const bytes = Buffer.from(await memory.get(key, undefined, signal));
  await memory.delete(key, signal);
  if (how === 'damaged') bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9);
  if (how !== 'gone') await memory.put(key, how === 'cut short' ? bytes.subarray(0, 50) : bytes, signal);
}

async function problems(): Promise<readonly string[]> {
  const { findings } = await check(
    await open('another'),
    { readData: 'all', workers: 0 },
    SILENT_CHECK,
    signal,
  );
  return findings.map(({ severity, object }) => `${severity} ${object}`);
}

async function expectWhole(opened: Repository): Promise<void> {
  expect(opened.config.graceSeconds).toBe(GRACE / 1_000 - 1);
  const { live } = await listSnapshots(opened, signal);
  expect(live.map(({ id }) => id).sort()).toEqual([...saved.keys()].sort());
  for (const snapshot of live)
    expect(await lostFiles(opened, snapshot, saved.get(snapshot.id) ?? {}, signal)).toEqual([]);
}

describe('what opens a repository', () => {
  it('lies there twice, byte for byte', async () => {
    await prune(repository, {}, SILENT_PRUNE, signal);
    const copied = await listCopied(memory, '', signal);
    expect(copied.sort()).toEqual(['config/2', slotKey(), 'keys/ring-2'].sort());
    for (const key of copied)
      expect(await memory.get(copyKey(key), undefined, signal)).toEqual(
        await memory.get(key, undefined, signal),
      );
    expect(await problems()).toEqual([]);
  });

  describe.each(OBJECTS)('%s', (_, keyOf) => {
    it.each<Harm>(['damaged', 'cut short', 'gone'])('may be %s', async (how) => {
      await harm(keyOf(), how);
      await expectWhole(await open('another'));
      await expectWhole(await open('this machine'));
      expect(await problems()).toContain(`error ${keyOf()}`);

      const { putBack } = await recover(await open('another'), signal);
      expect(putBack).toEqual([keyOf()]);
      // Indexes that are not needed any more are no problem.
      expect((await problems()).filter((one) => !one.startsWith('note'))).toEqual([]);
      await harm(copyKey(keyOf()), 'gone');
      await expectWhole(await open('this machine'));
    });

    it.each<Harm>(['damaged', 'gone'])('may have a copy that is %s, until the next prune', async (how) => {
      await harm(copyKey(keyOf()), how);
      await expectWhole(await open('this machine'));
      expect(await problems()).toEqual([how === 'gone' ? `note ${keyOf()}` : `warning ${copyKey(keyOf())}`]);
      await prune(await open('this machine'), {}, SILENT_PRUNE, signal);
      expect(await problems()).toEqual([]);
      await harm(keyOf(), 'gone');
      await expectWhole(await open('another'));
    });

    it('is needed: without both nothing is made of the one before', async () => {
      await deleteTwice(memory, keyOf(), signal);
      await expect(open('this machine')).rejects.toThrow();
    });

    it('does not need its copy to be stored', async () => {
      beforePut = (key) => {
        if (key.startsWith('copies/')) throw new DestinationError('full', 'no room');
      };
      await rotateKeys(repository, signal);
      await putConfig(repository, repository.config, 3, signal);
      await addKey(
        repository,
        { secret: { kind: 'recovery', secret: randomBytes(32) }, label: 'two', cost },
        signal,
      );
      expect((await open('this machine')).ringNumber).toBe(4);
    });
  });

  it('is put back by prune as well, and a backup goes on before', async () => {
    for (const [, keyOf] of OBJECTS) await harm(keyOf(), 'damaged');
    repository = await open('this machine');
    saved = new Map([...saved, await backup()]);
    await prune(repository, {}, SILENT_PRUNE, signal);
    expect(await problems()).toEqual([]);
    await expectWhole(await open('another'));
  });

  it('is found all the same when nothing is left of the rest', async () => {
    for (const key of [...(await keysBelow('keys/')), ...(await keysBelow('config/'))])
      await memory.delete(key, signal);
    await expectWhole(await open('this machine'));
    const options = { clock, stateDirectory: undefined, secrets: [{ secret, label: 'test' }], cost };
    await expect(createRepository(destination, options, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_EXISTS',
    });
  });
});

describe('a second copy', () => {
  it('opens nothing with a wrong passphrase', async () => {
    await expect(open('another', { kind: 'passphrase', text: 'five words' })).rejects.toMatchObject({
      code: 'WRONG_PASSPHRASE',
    });
  });

  it('of a key that was removed goes before it, and would open nothing', async () => {
    const other: Secret = { kind: 'passphrase', text: 'other words' };
    const { slot } = await addKey(repository, { secret: other, label: 'other', cost }, signal);
    const copy = await memory.get(copyKey(`keys/${slot}`), undefined, signal);
    await removeKey(repository, slot, signal);
    expect(await listCopied(memory, 'keys/', signal)).not.toContain(`keys/${slot}`);
    await memory.put(copyKey(`keys/${slot}`), copy, signal);
    await expect(open('another', other)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    await prune(repository, {}, SILENT_PRUNE, signal);
    expect(await listCopied(memory, 'keys/', signal)).not.toContain(`keys/${slot}`);
  });

  it('of keys that were retired goes with them', async () => {
    for (let round = 0; round < 3; round += 1) {
      await rekey(repository, {}, SILENT_REKEY, signal);
      await clock.advance(GRACE + HOUR);
      await prune(repository, {}, SILENT_PRUNE, signal);
    }
    expect(repository.keyring.generations.map(({ g }) => g)).toEqual([2]);
    const numbers = [...(await keysBelow('keys/ring-')), ...(await keysBelow('copies/keys/ring-'))].map(
      (key) => Number(key.replace(/.*-/, '')),
    );
    expect(Math.min(...numbers)).toBeGreaterThan(2);
    expect((await open('another')).keyring.generations).toHaveLength(1);
    expect(await problems()).toEqual([]);
  });

  it('of what another machine is about to put in force stays', async () => {
    const other = await open('another');
    const secrets: Secret = { kind: 'recovery', secret: randomBytes(32) };
    await rotateKeys(other, signal);
    // It dies once slot and copy are stored.
    beforePut = (key) => {
      if (key === 'keys/ring-4') throw new DestinationError('unreachable', 'gone');
    };
    await expect(addKey(other, { secret: secrets, label: 'two', cost }, signal)).rejects.toThrow('gone');
    beforePut = () => {};
    const copied = await listCopied(memory, '', signal);
    expect(copied).toContain('keys/ring-3');
    await prune(repository, {}, SILENT_PRUNE, signal);
    expect(await listCopied(memory, '', signal)).toEqual(copied);
  });

  it('that a newer program made of something else stays', async () => {
    await memory.put('copies/later/thing', Buffer.from('kept'), signal);
    await prune(repository, {}, SILENT_PRUNE, signal);
    expect(await keysBelow('copies/later/')).toEqual(['copies/later/thing']);
  });

  it('of what an interrupted init has stored does not keep the next one from going on', async () => {
    const place = createMemoryDestination(() => clock.now());
    const cut = hookedDestination(place, {
      put: async (key) => {
        if (key === 'keys/ring-1') throw new DestinationError('unreachable', 'gone');
        await Promise.resolve();
      },
    });
    const options = { clock, stateDirectory: undefined, secrets: [{ secret, label: 'test' }], cost };
    await expect(createRepository(cut, options, signal)).rejects.toThrow('gone');
    expect(await listCopied(place, '', signal)).not.toEqual([]);
    const made = await createRepository(place, options, signal);
    expect((await openRepository(place, secret, { ...options, allowWeakCost: true }, signal)).id).toBe(
      made.id,
    );
  });
});

describe('a configuration that is damaged', () => {
  it('does not let its predecessor be retired before another one stands', async () => {
    await harm('config/2', 'damaged');
    await harm(copyKey('config/2'), 'damaged');
    repository = await openRepository(
      destination,
      secret,
      { clock, stateDirectory: undefined, allowWeakCost: true },
      signal,
    );
    expect(repository.writer.memory.config).toBe(1);
    for (let round = 0; round < 3; round += 1) {
      await rekey(repository, {}, SILENT_REKEY, signal);
      await clock.advance(GRACE + HOUR);
      await prune(repository, {}, SILENT_PRUNE, signal);
    }
    expect(repository.keyring.generations.map(({ g }) => g)).toEqual([2]);
    expect((await open('another')).writer.memory.config).toBe(3);
  });
});

/** Damage to key files in all the shapes that it takes, and who has to go on in spite of it. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DestinationError, type DestinationKind } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { putConfig } from '../../../src/repository/configuration.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, rotateKeys } from '../../../src/repository/keys/keys.ts';
import { replaceRing } from '../../../src/repository/keys/replace-ring.ts';
import { findLost, giveUpLost } from '../../../src/repository/chains/lost-records.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { recover } from '../../../src/repository/check/recover.ts';
import { SILENT_REKEY, rekey } from '../../../src/repository/renew/rekey.ts';
import { OBJECT_TYPES } from '../../../src/format/header.ts';
import { encodeChainContext, encodeSigned, tombstoneMap } from '../../../src/format/records.ts';
import { sealObject } from '../../../src/repository/objects/objects.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
const secret: Secret = { kind: 'passphrase', text: 'four words' };
const recovery: Secret = { kind: 'recovery', secret: randomBytes(32) };

let clock: ManualClock;
let stateDirectory: string;
let memory: Destination;
let destination: Destination;
/** What each of these throws is what the storage answers. */
let before: { put?: (key: string) => void; get?: (key: string) => void; delete?: (key: string) => void };
let repository: Repository;

beforeEach(async () => {
  clock = manualClock();
  before = {};
  stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-harmed-'));
  memory = createMemoryDestination(() => clock.now());
  destination = hookedDestination(memory, {
    put: (key) => before.put?.(key),
    get: (key) => before.get?.(key),
    delete: (key) => before.delete?.(key),
  });
  const options = { clock, stateDirectory, secrets: [{ secret, label: 'test' }], cost };
  repository = await createRepository(destination, options, signal);
  await backup();
  await rotateKeys(repository, signal);
  await backup();
});

afterEach(() => {
  rmSync(stateDirectory, { recursive: true });
});

async function backup(): Promise<string> {
  const { id } = await tinyBackup(repository, { file: randomBytes(2_000) }, {}, signal);
  await clock.advance(1_000);
  return id;
}

async function open(opener = secret, remembered?: string): Promise<Repository> {
  const options = { clock, stateDirectory: remembered, allowWeakCost: true };
  return await openRepository(destination, opener, options, signal);
}

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of memory.list(prefix, signal)) keys.push(...page.map(({ key }) => key));
  return keys.sort();
}

async function replace(key: string, bytes: Uint8Array): Promise<void> {
  await memory.delete(key, signal);
  await memory.put(key, bytes, signal);
}

async function flip(key: string, at: number, bit = 0): Promise<void> {
  const bytes = Buffer.from(await memory.get(key, undefined, signal));
  const place = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(place) ^ (1 << bit), place);
  await replace(key, bytes);
}

async function objects(): Promise<readonly string[]> {
  const { findings } = await check(await open(), { readData: false }, SILENT_CHECK, signal);
  return findings.filter(({ severity }) => severity !== 'note').map(({ object }) => object);
}

const slotKey = (): string => `keys/${repository.slot.slot}`;

describe('a repository opens', () => {
  it.each(['passphrase', 'write-only'] as const)(
    'by a %s key whichever bit of slot, keyring or configuration is wrong',
    async (kind) => {
      const only: Secret = { kind: 'write-only', secret: randomBytes(32) };
      const added =
        kind === 'write-only'
          ? await addKey(repository, { secret: only, label: 'two', cost }, signal)
          : undefined;
      const opener = added === undefined ? secret : only;
      const shut: string[] = [];
      const { ringNumber } = repository;
      for (const key of [
        `keys/${added?.slot ?? repository.slot.slot}`,
        `keys/ring-${ringNumber}`,
        'config/1',
      ]) {
        const sound = Buffer.from(await memory.get(key, undefined, signal));
        // Headers and maps have their lengths and versions at the beginning.
        const step = Math.ceil(sound.length / 40);
        for (let at = 0; at < sound.length; at += at < 24 || (at > 90 && at < 110) ? 1 : step) {
          for (const bit of [0, 3, 4, 7]) {
            await flip(key, at, bit);
            const opened = await open(opener).catch((error: unknown) => String(error));
            if (typeof opened === 'string' || opened.ringNumber !== ringNumber)
              shut.push(`${key} ${at}.${bit}`);
            await replace(key, sound);
          }
        }
      }
      expect(shut).toEqual([]);
    },
    60_000,
  );

  const KINDS: readonly DestinationKind[] = ['unreachable', 'corrupt-reply'];
  it.each(KINDS)('when one of them lies in a bad sector (%s)', async (kind) => {
    for (const bad of [slotKey(), 'keys/ring-2', 'config/1']) {
      before.get = (key) => {
        if (key === bad) throw new DestinationError(kind, 'the drive reports an error');
      };
      expect((await open()).ringNumber).toBe(2);
      before = {};
    }
  });
});

describe('a copy', () => {
  it('is not overwritten by a slot of which nothing proves that it is whole', async () => {
    const slots = repository.keyring.slots.map(({ file: _digest, ...slot }) => slot);
    await replaceRing(repository, { ...repository.keyring, slots }, signal);
    await addKey(repository, { secret: recovery, label: 'two', cost }, signal);
    const bytes = Buffer.from(await memory.get(slotKey(), undefined, signal));
    await flip(slotKey(), bytes.indexOf('commit') + 12);
    await open();
    await prune(await open(recovery), {}, SILENT_PRUNE, signal);
    await open();
  });

  it('that may not be stored fails no prune', async () => {
    await memory.delete('copies/keys/ring-2', signal);
    before.put = (key) => {
      if (key.startsWith('copies/')) throw new DestinationError('denied', 'not allowed');
    };
    await prune(await open(), {}, SILENT_PRUNE, signal);
  });
});

describe('recover', () => {
  it('leaves a tombstone alone that the administrator has signed with a newer program', async () => {
    const record = { kind: 'snapshots' as const, names: [], reason: 'later', atMs: 1, fence: 0 };
    const later = { ...tombstoneMap(record), v: 2 };
    const plaintext = encodeSigned(later, (unsigned) => repository.sign('hf1/tomb', unsigned));
    const context = encodeChainContext({ writer: 'ab'.repeat(16), seq: 1, prev: '0'.repeat(64) });
    const { bytes, name } = sealObject(repository.keys, OBJECT_TYPES.tombstone, context, plaintext);
    await memory.put(`trash/${name}`, bytes, signal);
    expect((await recover(await open(), signal)).removed).toEqual([]);
  });

  it('takes a tombstone away whose header says a format that the keyring does not', async () => {
    await forgetSnapshots(repository, [await backup()], 'test', signal);
    const [key = ''] = await keysBelow('trash/');
    const bytes = Buffer.from(await memory.get(key, undefined, signal));
    bytes.writeUInt8(9, 4);
    const planted = `trash/${createHash('sha256').update(bytes).digest('hex')}`;
    await memory.put(planted, bytes, signal);
    expect((await recover(await open(), signal)).removed).toEqual([planted]);
  });

  it('tells what it did where it may not delete', async () => {
    await forgetSnapshots(repository, [await backup()], 'test', signal);
    const [key = ''] = await keysBelow('trash/');
    await flip(key, -9);
    before.delete = (one) => {
      if (!one.startsWith('leases/')) throw new DestinationError('denied', 'not allowed');
    };
    expect((await recover(await open(), signal)).removed).toEqual([]);
  });
});

describe('sealing everything anew', () => {
  it.each(['damaged', 'gone'])(
    'goes by the copy of a keyring that is %s, and leaves nothing to complain of',
    async (how) => {
      await rekey(repository, {}, SILENT_REKEY, signal);
      await clock.advance(100 * HOUR);
      await prune(repository, {}, SILENT_PRUNE, signal);
      if (how === 'gone') await memory.delete('keys/ring-2', signal);
      else await flip('keys/ring-2', -9);
      repository = await open(secret, stateDirectory);
      const first = await rekey(repository, {}, SILENT_REKEY, signal);
      // The keyring is as old as it has been there again.
      expect(first.retired).toEqual([{ generation: 1, outcome: 'grace period' }]);
      await clock.advance(100 * HOUR);
      const second = await rekey(repository, {}, SILENT_REKEY, signal);
      expect(second.retired).toEqual([{ generation: 1, outcome: 'retired' }]);
      await clock.advance(1_000);
      expect(await objects()).toEqual([]);
    },
  );

  it('goes on where a configuration or a head is empty', async () => {
    await putConfig(repository, repository.config, 2, signal);
    await replace('config/1', Buffer.alloc(0));
    const [head = ''] = await keysBelow('heads/');
    await replace(head, Buffer.alloc(0));
    await rekey(await open(), {}, SILENT_REKEY, signal);
  });
});

describe('a number that nobody can believe', () => {
  it('of a head costs no time, and is taken away', async () => {
    const key = `heads/${repository.writer.memory.writer}/9999999999999999`;
    await memory.put(key, Buffer.from('nothing'), signal);
    expect(await findLost(await open(), signal)).toEqual([]);
    expect((await recover(await open(), signal)).removed).toEqual([key]);
    await prune(await open(), {}, SILENT_PRUNE, signal);
    expect(await objects()).toEqual([]);
  });

  it('of a head that could be is given up with those before it, at one time', async () => {
    const { writer, seq } = repository.writer.memory;
    await memory.put(
      `heads/${writer}/${String(seq + 500).padStart(16, '0')}`,
      Buffer.from('nothing'),
      signal,
    );
    const giveUp = async (): Promise<readonly number[]> => {
      const lost = (await findLost(await open(), signal)).map(({ record }) => record);
      if (lost.length > 0) await giveUpLost(await open(), lost, signal);
      return lost.map((record) => record.seq);
    };
    // With it those before it are missed, at the same time.
    expect(await giveUp()).toEqual(Array.from({ length: 500 }, (_, at) => seq + 1 + at));
    expect(await giveUp()).toEqual([]);
    await recover(await open(), signal);
    await prune(await open(), {}, SILENT_PRUNE, signal);
    expect(await objects()).toEqual([]);
  });

  it('of a configuration is not counted on', async () => {
    await memory.put('config/9999999999999999', Buffer.from('nothing'), signal);
    repository = await open(secret, stateDirectory);
    await rekey(repository, {}, SILENT_REKEY, signal);
    expect((await open(secret, stateDirectory)).writer.memory.config).toBe(2);
  });
});

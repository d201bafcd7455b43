/** What a later version, or a stranger, may leave in a repository, and what this one makes of it. */

import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import {
  encodeSigned,
  encodeChainContext,
  configMap,
  encodeHead,
  tombstoneMap,
} from '../../../src/format/records.ts';
import { OBJECT_TYPES } from '../../../src/format/header.ts';
import { readNewestHeads } from '../../../src/repository/chain.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { sealObject } from '../../../src/repository/objects/objects.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { listSnapshots } from '../../../src/repository/snapshots.ts';
import { directory, file, handMadeSnapshot } from '../../support/hand-made-snapshot.ts';
import { secretBytes } from '../../support/test-keys.ts';

const { signal } = new AbortController();
const secret: Secret = { kind: 'machine', secret: secretBytes('machine') };
const options = { clock: systemClock, stateDirectory: undefined };

let destination: Destination;
let repository: Repository;

beforeEach(async () => {
  destination = createMemoryDestination();
  const secrets = [{ secret, label: 'test' }];
  repository = await createRepository(
    destination,
    { ...options, secrets, cost: { m: 64, t: 1, p: 1 } },
    signal,
  );
});

async function opened(): Promise<string | Repository> {
  try {
    return await openRepository(destination, secret, options, signal);
  } catch (error) {
    if (error instanceof RepositoryError) return error.code;
    throw error;
  }
}

function configBytes(n: number, fields: Readonly<Record<string, string | number>>): Buffer {
  const context = Buffer.alloc(8);
  context.writeBigUInt64BE(BigInt(n));
  const map = { ...configMap(repository.config, n), ...fields };
  const plaintext = encodeSigned(map, (unsigned) => repository.sign('hf1/config', unsigned));
  return sealObject(repository.keys, OBJECT_TYPES.config, context, plaintext).bytes;
}

describe('opening a repository', () => {
  it('leaves aside objects that only look like its own', async () => {
    const config = await destination.get('config/1', undefined, signal);
    const ring = await destination.get('keys/ring-1', undefined, signal);
    for (const key of [
      'config/0007',
      'config/9999999999999999',
      'config/2',
      'keys/ring-0009',
      'keys/ring-5',
      'config/x',
    ])
      await destination.put(key, key.startsWith('config/') ? config : ring, signal);
    await destination.put('config/3', Buffer.from('garbage'), signal);
    await destination.put('keys/ring-6', Buffer.from('garbage'), signal);
    const again = await opened();

    expect(again).toMatchObject({ ringNumber: 1, id: repository.id });
  });

  it('takes a configuration with fields that a later version added, signed with them', async () => {
    await destination.put('config/2', configBytes(2, { added_later: 'x', grace: 5 }), signal);

    expect(await opened()).toMatchObject({ config: { graceSeconds: 5 } });
  });

  it('stops when the configuration asks for a newer version', async () => {
    await destination.put('config/2', configBytes(2, { min_format: 3 }), signal);
    expect(await opened()).toBe('NEWER_FORMAT');

    await destination.put('config/3', configBytes(3, { v: 2 }), signal);
    expect(await opened()).toBe('NEWER_FORMAT');
  });
});

describe('a tombstone of a later version', () => {
  it('counts with the fields it does not know signed along, and not when they were added afterwards', async () => {
    const ids: string[] = [];
    for (const content of ['one', 'two'])
      ids.push((await handMadeSnapshot(repository, directory({ f: file(content) }), {}, signal)).id);
    const record = (names: string[]) =>
      tombstoneMap({ kind: 'snapshots', names, reason: '', atMs: 0, fence: 0 });
    const sign = (unsigned: Buffer): Buffer => repository.sign('hf1/tomb', unsigned);
    const position = encodeChainContext({ writer: '0'.repeat(32), seq: 1, prev: '0'.repeat(64) });
    const put = async (plaintext: Buffer): Promise<void> => {
      const { bytes, name } = sealObject(repository.keys, OBJECT_TYPES.tombstone, position, plaintext);
      await destination.put(`trash/${name}`, bytes, signal);
    };
    await put(encodeSigned({ ...record(ids.slice(0, 1)), added_later: [1] }, sign));
    await put(
      encodeSigned({ ...record(ids.slice(1)), added_afterwards: 1 }, () => sign(Buffer.from('another map'))),
    );
    const { live, tombstones } = await listSnapshots(repository, signal);

    expect(live.map(({ id }) => id)).toEqual(ids.slice(1));
    expect(tombstones.ignored).toHaveLength(1);
  });
});

describe('a head', () => {
  it('in the place of a newer one is not taken for it', async () => {
    const { writer } = repository.writer.memory;
    const head = (seq: number): Buffer =>
      sealObject(
        repository.keys,
        OBJECT_TYPES.head,
        encodeChainContext({ writer, seq, prev: '0'.repeat(64) }),
        encodeHead({ record: 'ab'.repeat(32), live: 1 }),
      ).bytes;
    await destination.put(`heads/${writer}/0000000000000001`, head(1), signal);
    expect(await readNewestHeads(repository, signal)).toMatchObject([{ chain: { writer, seq: 1 } }]);

    await destination.put(`heads/${writer}/0000000000000002`, head(1), signal);
    // What its key says counts all the same: there is a second record, whatever it may be.
    const [claimed] = await readNewestHeads(repository, signal);
    expect(claimed).toEqual({ chain: { writer, seq: 2 }, record: undefined, live: undefined });
    const { findings } = await check(repository, { readData: false }, SILENT_CHECK, signal);
    expect(findings.map(({ object, what }) => `${object} ${what}`)).toContainEqual(
      expect.stringMatching(/heads.*0000000000000002 it is stored under another key/),
    );
  });
});

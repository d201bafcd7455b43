/** What a later version, or a stranger, may leave in a repository, and what this one makes of it. */

import { createHash } from 'node:crypto';
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
import { CIPHER_GCM, OBJECT_TYPES } from '../../../src/format/header.ts';
import { encodeTail } from '../../../src/format/pack.ts';
import { packKey } from '../../../src/repository/objects/listing.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE } from '../../../src/codec/seal.ts';
import { readNewestHeads } from '../../../src/repository/chain.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { markDamaged } from '../../../src/repository/check/damaged-packs.ts';
import { check } from '../../../src/repository/check/check.ts';
import { loadPacks } from '../../../src/repository/chunk-index.ts';
import { replaceRing } from '../../../src/repository/keys/replace-ring.ts';
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

describe('objects of a later version', () => {
  const index = (): { key: string; bytes: Buffer } => {
    const later = Buffer.concat([Buffer.from([0]), Buffer.from('020000000000000000000000', 'hex')]);
    const { bytes, name } = sealObject(repository.keys, OBJECT_TYPES.index, Buffer.alloc(0), later);
    return { key: `index/${name}`, bytes };
  };
  const pack = (): { key: string; bytes: Buffer } => {
    const seal = ObjectSeal.create(repository.keys, OBJECT_TYPES.dataPack, CIPHER_GCM, Buffer.alloc(0));
    const padding = seal.seal(PADDING_SEQUENCE, Buffer.alloc(0));
    const directory = seal.seal(DIRECTORY_SEQUENCE, Buffer.from('0201000000000000000000ff', 'hex'));
    const directoryOffset = seal.prefix.length + padding.length;
    const tail = { directoryOffset, directoryLength: directory.length, paddingLength: padding.length };
    const bytes = Buffer.concat([seal.prefix, padding, directory, encodeTail(tail)]);
    return { key: packKey(createHash('sha256').update(bytes).digest('hex')), bytes };
  };

  it.each([
    ['an index object', index],
    ['a pack', pack],
  ])(
    '%s stops a program that had the repository open when it was upgraded, and is not called damaged',
    async (_, make) => {
      const upgrading = await openRepository(destination, secret, options, signal);
      await replaceRing(upgrading, { ...upgrading.keyring, minFormat: 3 }, signal);
      const { key, bytes } = make();
      await destination.put(key, bytes, signal);

      const stops = { code: 'NEWER_FORMAT', hint: 'Update Holdfast on this machine.' };
      await expect(loadPacks(repository, { without: new Set() }, signal)).rejects.toMatchObject(stops);
      await expect(check(repository, { readData: false }, SILENT_CHECK, signal)).rejects.toMatchObject(stops);
      const { marked, refusal } = await markDamaged(repository, new Set(['ab'.repeat(32)]), signal);
      expect([marked.size, refusal]).toMatchObject([0, stops]);
    },
  );

  it.each([
    ['an index object', index, /^index object/],
    ['a pack', pack, /^pack/],
  ])('%s is damage where the keyring asks for no later version', async (_, make, object) => {
    const { key, bytes } = make();
    await destination.put(key, bytes, signal);

    const { damaged } = await loadPacks(repository, { without: new Set() }, signal);
    expect(damaged).toHaveLength(1);
    const { findings } = await check(repository, { readData: false }, SILENT_CHECK, signal);
    expect(findings.map((finding) => finding.object)).toContainEqual(expect.stringMatching(object));
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

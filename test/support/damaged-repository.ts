/** A repository with every kind of object in it, as plain bytes, and ways to damage it. */
import { randomBytes } from 'node:crypto';
import type { Destination } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import type { SnapshotRecord } from '../../src/format/records.ts';
import { newLeaseRecord, putLease } from '../../src/repository/lease-objects.ts';
import { acquirePruneLease } from '../../src/repository/take-lease.ts';
import { addKey, removeKey } from '../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { putConfig } from '../../src/repository/configuration.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots } from '../../src/repository/snapshots.ts';
import { manualClock, type ManualClock } from './manual-clock.ts';
import type { SeededRandom } from './seeded-random.ts';
import { tinyBackup, type TinyTree } from './tiny-archiver.ts';

export type Objects = ReadonlyMap<string, Buffer>;

export interface SampleRepository {
  readonly objects: Objects;
  readonly secret: Buffer;
  readonly clock: ManualClock;
  /** Where the host that made it keeps its memory of it. */
  readonly stateDirectory: string;
  /** Live snapshots and what they hold. */
  readonly snapshots: ReadonlyMap<string, TinyTree>;
}

const cost = { m: 64, t: 1, p: 1 };

/** Four live snapshots (encrypted, plain and isolated) among forgotten ones, keys and settings that were changed. */
export async function sampleRepository(
  random: SeededRandom,
  stateDirectory: string,
  signal: AbortSignal,
): Promise<SampleRepository> {
  const clock = manualClock();
  const destination = createMemoryDestination(() => clock.now());
  const secret = randomBytes(32);
  const created = await createRepository(
    destination,
    {
      clock,
      stateDirectory,
      secrets: [
        { secret: { kind: 'machine', secret }, label: 'this host' },
        { secret: { kind: 'passphrase', text: 'first' }, label: 'first' },
      ],
      cost,
      packTarget: 65_536 * 2,
      segmentTarget: 65_536,
    },
    signal,
  );
  await putConfig(created, created.config, 2, signal);
  await created.writer.remember({ config: 2 });
  const shared: TinyTree = { kept: random.bytes(90_000), dir: { text: Buffer.from('hello '.repeat(3_000)) } };
  const snapshots = new Map<string, TinyTree>();
  const backup = async (
    through: Repository,
    tree: TinyTree,
    record: Partial<SnapshotRecord> = {},
  ): Promise<string> => {
    const { id } = await tinyBackup(through, tree, { record }, signal);
    snapshots.set(id, tree);
    return id;
  };
  await backup(created, shared);
  const recovery = { kind: 'recovery' as const, secret: randomBytes(32) };
  const added = await addKey(created, { secret: recovery, label: 'recovery', cost }, signal);
  const first = created.keyring.slots.find(({ label }) => label === 'first')?.slot ?? '';
  const { repository } = await removeKey(added.repository, first, signal);
  await clock.advance(1_000);
  const forgotten = await backup(repository, { ...shared, gone: random.bytes(30_000) });
  const deeper = { file: random.bytes(40_000), below: { more: random.bytes(5_000), empty: Buffer.alloc(0) } };
  await backup(repository, { ...shared, deeper });
  await backup(repository, { plain: random.bytes(9_000) }, { plain: true });
  await backup(repository, { isolated: random.bytes(9_000) }, { salt: randomBytes(16) });
  await forgetSnapshots(repository, [forgotten], 'test', signal);
  snapshots.delete(forgotten);
  await clock.advance(1_000);
  await prune(repository, { noOtherWriters: true }, SILENT_PRUNE, signal);
  for (const session of ['0123456789abcdef', 'fedcba9876543210']) {
    await putLease(repository, `session.${session}`, 1, newLeaseRecord(repository, session), signal);
  }
  const objects = await objectsOf(destination, signal);
  const lease = await acquirePruneLease(repository, {}, signal);
  const withLease = await objectsOf(destination, signal);
  await lease.release();
  return { objects: new Map([...objects, ...withLease]), secret, clock, stateDirectory, snapshots };
}

/** But the reserve, which means nothing to anybody. */
export async function objectsOf(destination: Destination, signal: AbortSignal): Promise<Map<string, Buffer>> {
  const objects = new Map<string, Buffer>();
  for await (const page of destination.list('', signal)) {
    for (const { key } of page)
      if (!key.startsWith('reserve/')) objects.set(key, await destination.get(key, undefined, signal));
  }
  return objects;
}

/** Opens a repository of these objects, by default without memory of it. */
export async function openObjects(
  sample: SampleRepository,
  objects: Objects,
  options: { readonly remembering?: boolean },
  signal: AbortSignal,
): Promise<Repository> {
  const destination = createMemoryDestination(() => sample.clock.now());
  for (const [key, bytes] of objects) await destination.put(key, bytes, signal);
  const stateDirectory = options.remembering === true ? sample.stateDirectory : undefined;
  const secret = { kind: 'machine' as const, secret: sample.secret };
  return await openRepository(destination, secret, { clock: sample.clock, stateDirectory }, signal);
}

export const DAMAGE_KINDS = ['flip', 'truncate', 'zero', 'append', 'swap', 'foreign', 'missing'] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** One damage done to a copy of the objects; undefined where this kind cannot be done to this object. */
export interface Damaged {
  readonly objects: Objects;
  /** The keys whose objects were changed. */
  readonly keys: readonly string[];
  readonly description: string;
}

export function typeOf(key: string): string {
  return key.startsWith('keys/ring-') ? 'ring' : (key.split('/')[0] ?? '');
}

export function damage(
  objects: Objects,
  key: string,
  kind: DamageKind,
  foreign: Objects,
  random: SeededRandom,
): Damaged | undefined {
  const bytes = objects.get(key);
  if (bytes === undefined) throw new Error(`there is no ${key}`);
  const changed = (replacement: Buffer | undefined, description: string): Damaged | undefined => {
    if (replacement?.equals(bytes) === true) return undefined;
    const copy = new Map(objects);
    if (replacement === undefined) copy.delete(key);
    else copy.set(key, replacement);
    return { objects: copy, keys: [key], description: `${kind} ${key}: ${description}` };
  };
  const peers = (from: Objects): string[] => [...from.keys()].filter((one) => typeOf(one) === typeOf(key));
  switch (kind) {
    case 'flip': {
      const bit = random.below(bytes.length * 8);
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return changed(copy, `bit ${bit} of ${bytes.length * 8}`);
    }
    case 'truncate': {
      const length = Math.floor((bytes.length * random.below(16)) / 16);
      return changed(Buffer.from(bytes.subarray(0, length)), `to ${length} of ${bytes.length}`);
    }
    case 'zero': {
      const length = Math.min(4_096, Math.ceil(bytes.length / 4));
      const at = random.below(bytes.length - length + 1);
      return changed(Buffer.from(bytes).fill(0, at, at + length), `${length} bytes at ${at}`);
    }
    case 'append': {
      const more = random.bytes(1 + random.below(40));
      return changed(Buffer.concat([bytes, more]), `${more.length} bytes`);
    }
    case 'swap': {
      const others = peers(objects).filter((one) => objects.get(one)?.equals(bytes) === false);
      const other = others[random.below(others.length)];
      if (other === undefined) return undefined;
      const swapped = new Map(objects);
      swapped.set(key, objects.get(other) ?? bytes);
      swapped.set(other, bytes);
      return { objects: swapped, keys: [key, other], description: `swap ${key} and ${other}` };
    }
    case 'foreign': {
      const others = peers(foreign);
      const other = foreign.get(others[random.below(others.length)] ?? '');
      return other === undefined ? undefined : changed(Buffer.from(other), 'of another repository');
    }
    case 'missing':
      return changed(undefined, 'gone');
  }
}

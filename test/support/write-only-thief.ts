/** Whoever has a write-only key and storage that takes what is added: what it can seal, and where it can put it. */
import { randomBytes } from 'node:crypto';
import { writeOnlyMark } from '../../src/codec/write-only.ts';
import { OBJECT_TYPES, type ObjectType } from '../../src/format/header.ts';
import { encodeLease } from '../../src/format/lease-record.ts';
import {
  encodeChainContext,
  encodeHead,
  encodeSnapshot,
  type ChainPosition,
  type SnapshotRecord,
} from '../../src/format/records.ts';
import { leaseContext, leaseKey } from '../../src/repository/lease-objects.ts';
import { openObject, sealObject } from '../../src/repository/objects/objects.ts';
import type { Repository } from '../../src/repository/repository.ts';

const { signal } = new AbortController();

export interface Thief {
  /** Puts the configuration under `from` under another number. Returns its key. */
  configAgain(from: string, n: number): Promise<string>;
  /** Puts the tombstone in another place; undefined for the same. Returns its name. */
  tombstoneAgain(name: string, position?: ChainPosition): Promise<string>;
  /** A snapshot of nothing that is there, with any number. Returns its name. */
  snapshot(seq: number, fields?: Partial<SnapshotRecord>): Promise<string>;
  head(place: ChainPosition, record: string): Promise<void>;
  /** @param startedMs when it says that its holder began */
  lease(purpose: string, epoch: number, startedMs?: number): Promise<string>;
  /** What stands under this key, under another one or once more. */
  again(key: string, bytes: Buffer): Promise<void>;
}

/** @param opened with the write-only key */
export function thiefWith(opened: Repository): Thief {
  const { keys, destination, keyring } = opened;
  const number = keyring.grantedTo ?? 0;
  const { writer: mark, salt } = writeOnlyMark(keyring.repository, number);
  const newWriter = (): string => Buffer.concat([mark, randomBytes(8)]).toString('hex');
  const put = async (prefix: string, type: ObjectType, context: Buffer, plain: Buffer): Promise<string> => {
    const { bytes, name } = sealObject(keys, type, context, plain);
    await destination.put(`${prefix}${name}`, bytes, signal);
    return name;
  };
  const plaintextOf = async (key: string, type: ObjectType) =>
    openObject(keys, type, await destination.get(key, undefined, signal), key);
  return {
    configAgain: async (from, n) => {
      const { plaintext } = await plaintextOf(from, OBJECT_TYPES.config);
      const context = Buffer.alloc(8);
      context.writeBigUInt64BE(BigInt(n));
      const { bytes } = sealObject(keys, OBJECT_TYPES.config, context, plaintext);
      await destination.put(`config/${n}`, bytes, signal);
      return `config/${n}`;
    },
    tombstoneAgain: async (name, position) => {
      const { plaintext, context } = await plaintextOf(`trash/${name}`, OBJECT_TYPES.tombstone);
      const place = position === undefined ? context : encodeChainContext(position);
      return await put('trash/', OBJECT_TYPES.tombstone, place, plaintext);
    },
    snapshot: async (seq, fields = {}) => {
      const position = { writer: newWriter(), seq, prev: randomBytes(32).toString('hex') };
      const record = encodeSnapshot({ ...emptyRecord(salt), ...fields });
      const name = await put('snapshots/', OBJECT_TYPES.snapshot, encodeChainContext(position), record);
      await headOf(position, name);
      return name;
    },
    head: async (position, record) => await headOf(position, record),
    lease: async (purpose, epoch, startedMs = 1) => {
      const nonce = purpose === 'prune' ? 'ab'.repeat(8) : purpose.slice('session.'.length);
      const record = { writer: newWriter(), nonce, startedMs, host: 'planted', pid: 1 };
      const { bytes } = sealObject(
        keys,
        OBJECT_TYPES.lease,
        leaseContext(purpose, epoch),
        encodeLease(record),
      );
      await destination.put(leaseKey(purpose, epoch), bytes, signal);
      return leaseKey(purpose, epoch);
    },
    again: async (key, bytes) => {
      await destination.put(key, bytes, signal);
    },
  };

  async function headOf(position: ChainPosition, record: string): Promise<void> {
    const head = encodeHead({ record, live: 1 });
    const { bytes } = sealObject(keys, OBJECT_TYPES.head, encodeChainContext(position), head);
    const number = String(position.seq).padStart(16, '0');
    await destination.put(`heads/${position.writer}/${number}`, bytes, signal);
  }
}

/** Of a tree that is not there. */
function emptyRecord(salt: Buffer): SnapshotRecord {
  const none = { files: 0, directories: 0, links: 0, others: 0, bytes: 0 };
  return {
    tool: 'thief',
    host: 'db1',
    user: 'root',
    paths: [],
    startedMs: 1,
    finishedMs: 1,
    root: randomBytes(24),
    plain: false,
    salt,
    tags: [],
    pinned: false,
    status: 'complete',
    errors: [],
    errorsMore: 0,
    counts: { ...none, new: 0, changed: 0, unchanged: 0, failed: 0 },
    owners: { users: {}, groups: {} },
    omitted: [],
    kind: 'files',
  };
}

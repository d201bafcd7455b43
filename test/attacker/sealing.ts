/** What somebody with a write-only key can seal, at once and in the middle of what others do. */
import { STORED_RAW } from '../../src/codec/compress.ts';
import { ID_BYTES } from '../../src/codec/hash.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE, TAG_BYTES } from '../../src/codec/seal.ts';
import { writeOnlyMark } from '../../src/codec/write-only.ts';
import { CIPHER_GCM, CIPHER_PLAIN, OBJECT_TYPES, type ObjectType } from '../../src/format/header.ts';
import { encodeLease } from '../../src/format/lease-record.ts';
import {
  TAIL_BYTES,
  directoryLength,
  encodePackDirectory,
  encodeTail,
  padme,
  type PackDirectory,
} from '../../src/format/pack.ts';
import {
  configMap,
  encodeHead,
  encodeSigned,
  encodeSnapshot,
  tombstoneMap,
  type SnapshotRecord,
} from '../../src/format/records.ts';
import { endlessTree, type EndlessTree, type Shape } from './endless-trees.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { openObject, sealObject, sha256 } from '../../src/repository/objects/objects.ts';
import type { Repository } from '../../src/repository/repository.ts';

export interface Sealed {
  readonly key: string;
  readonly body: Buffer;
}

/** A place in a chain, with any number that 8 bytes hold. */
export interface ClaimedPlace {
  readonly writer: string;
  readonly seq: bigint;
  readonly prev: string;
}

export class Sealing {
  readonly mark: string;
  readonly #opened: Repository;
  readonly #salt: Buffer;

  /** @param opened with the write-only key */
  constructor(opened: Repository) {
    this.#opened = opened;
    const number = opened.keyring.grantedTo ?? 0;
    const { writer, salt } = writeOnlyMark(opened.keyring.repository, number);
    this.mark = writer.toString('hex');
    this.#salt = salt;
  }

  /** A signed record once more, in another place; undefined for what its key does not open. */
  again(type: 'config' | 'tombstone', body: Buffer, context?: Buffer): Buffer | undefined {
    try {
      const opened = openObject(this.#opened.keys, OBJECT_TYPES[type], body, 'kept');
      return this.#seal(OBJECT_TYPES[type], context ?? opened.context, opened.plaintext);
    } catch {
      return undefined;
    }
  }

  /** A tombstone that is right in everything but the signature. */
  forgedTombstone(place: ClaimedPlace, names: readonly string[], signature: Buffer): Buffer {
    const record = { kind: 'snapshots', names, reason: 'forged', atMs: 1, fence: 0 } as const;
    const context = contextOf(place);
    // Its place is in the signed part as in the context.
    const map = { ...tombstoneMap(record), chain: context };
    const plaintext = encodeSigned(map, () => signature);
    return this.#seal(OBJECT_TYPES.tombstone, context, plaintext);
  }

  /** The same of a configuration. */
  forgedConfig(n: number, context: Buffer, signature: Buffer): Buffer {
    const map = configMap({ ...this.#opened.config, graceSeconds: 0 }, n);
    return this.#seal(
      OBJECT_TYPES.config,
      context,
      encodeSigned(map, () => signature),
    );
  }

  record(type: ObjectType, context: Buffer, plaintext: Buffer): Buffer {
    return this.#seal(type, context, plaintext);
  }

  lease(context: Buffer, nonce: string): Buffer {
    const record = { writer: `${this.mark}${'5'.repeat(16)}`, nonce, startedMs: 1, host: 'server', pid: 1 };
    return this.#seal(OBJECT_TYPES.lease, context, encodeLease(record));
  }

  snapshot(place: ClaimedPlace, fields: Partial<SnapshotRecord>): Buffer {
    const record = { ...ofNothing(this.#salt), ...fields };
    return this.#seal(OBJECT_TYPES.snapshot, contextOf(place), encodeSnapshot(record));
  }

  head(place: ClaimedPlace, record: string, live: number): Buffer {
    return this.#seal(OBJECT_TYPES.head, contextOf(place), encodeHead({ record, live }));
  }

  endless(shape: Shape): EndlessTree {
    return endlessTree(this.#opened, this.#salt, shape);
  }

  /** A pack that says by its directory that it holds this chunk. */
  pack(content: Buffer, claimed: Buffer, kind: 'data' | 'tree', plain: boolean): Sealed {
    const type = kind === 'data' ? OBJECT_TYPES.dataPack : OBJECT_TYPES.treePack;
    const seal = ObjectSeal.create(
      this.#opened.keys,
      type,
      plain ? CIPHER_PLAIN : CIPHER_GCM,
      Buffer.alloc(0),
    );
    const directoryBytes = directoryLength(1, 1) + TAG_BYTES;
    const storedLength = content.length + TAG_BYTES;
    const length = seal.prefix.length + storedLength;
    const packLength = padme(length + directoryBytes + TAIL_BYTES + TAG_BYTES);
    const paddingLength = packLength - length - directoryBytes - TAIL_BYTES;
    const body = Buffer.alloc(packLength);
    seal.prefix.copy(body);
    let at = seal.prefix.length;
    const facts = { rawLength: content.length, compression: STORED_RAW } as const;
    at += seal.sealInto(body, at, 0, content, facts);
    const segment = { offset: seal.prefix.length, storedLength, ...facts, chunks: 1 };
    at += seal.sealInto(body, at, PADDING_SEQUENCE, Buffer.alloc(paddingLength - TAG_BYTES));
    const tail = encodeTail({ directoryOffset: at, directoryLength: directoryBytes, paddingLength });
    const lengths = Uint32Array.from([content.length]);
    const directory: PackDirectory = {
      kind,
      packLength,
      segments: [segment],
      lengths,
      ids: claimed,
      idBytes: ID_BYTES,
    };
    at += seal.sealInto(body, at, DIRECTORY_SEQUENCE, encodePackDirectory(directory));
    tail.copy(body, at);
    return { key: packKey(sha256(body)), body };
  }

  #seal(type: ObjectType, context: Buffer, plaintext: Buffer): Buffer {
    return sealObject(this.#opened.keys, type, context, plaintext).bytes;
  }
}

export function contextOf({ writer, seq, prev }: ClaimedPlace): Buffer {
  const context = Buffer.alloc(56);
  context.write(writer, 0, 'hex');
  context.writeBigUInt64BE(seq, 16);
  context.write(prev, 24, 'hex');
  return context;
}

function ofNothing(salt: Buffer): SnapshotRecord {
  const none = { files: 0, directories: 0, links: 0, others: 0, bytes: 0 };
  return {
    tool: 'attacked',
    host: 'db1',
    user: 'user',
    paths: [],
    startedMs: 1,
    finishedMs: 1,
    root: Buffer.alloc(24, 5),
    plain: false,
    salt,
    tags: ['planted'],
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

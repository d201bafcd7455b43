import { createHmac, randomBytes } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { RepositoryError, corrupt } from '../base/errors.ts';
import type { KeyType } from '../format/header.ts';
import { agree, publicKeyOf, type RawKeyPair } from './curves.ts';
import { expand, hkdf } from './kdf.ts';
import {
  isSealedType,
  sealedObjectKey,
  sealerKey,
  sealingPair,
  writeOnlyMark,
  type WriteOnlyMark,
} from './write-only.ts';

/** The keys that a write-only key has of a generation, instead of the root key. */
export interface GrantedKeys {
  readonly config: Uint8Array;
  readonly tomb: Uint8Array;
  readonly lease: Uint8Array;
  /** What it seals with; set only for the current generation. */
  readonly sealing?: { readonly public: Uint8Array; readonly sealer: Uint8Array } | undefined;
}

export interface KeyGeneration {
  readonly g: number;
  /** The root key; empty where only some keys were granted. */
  readonly key: Buffer;
  readonly state: 'current' | 'old';
  readonly granted?: GrantedKeys | undefined;
}

/** The secrets of an open repository in the form that is posted to worker threads. */
export interface KeyMaterial {
  readonly repository: Uint8Array;
  readonly writer: Uint8Array;
  readonly idData: Uint8Array;
  readonly idTree: Uint8Array;
  readonly idPlain: Uint8Array;
  readonly cdc: Uint8Array;
  readonly generations: readonly {
    readonly g: number;
    readonly key: Uint8Array;
    readonly state: 'current' | 'old';
    readonly granted?: GrantedKeys | undefined;
  }[];
  /** Number of the write-only key whose keys these are; the chunk-id keys are then those of its namespace. */
  readonly writeOnly?: number | undefined;
}

/** The key of a new object, and the fields of its header that go with it. */
export interface NewObjectKey {
  readonly salt: Buffer;
  readonly sealedBy: number;
  readonly key: Buffer;
  readonly commitment: Buffer;
}

/** A namespace of chunk ids: encrypted chunks and plain ones are never shared, nor are those of snapshots with a salt. */
export interface Namespace {
  readonly plain: boolean;
  /** Set for a snapshot that shares chunks with no other. */
  readonly salt?: Uint8Array | undefined;
}

const BOOT = randomBytes(16);
let counter = 0n;

/**
 * Bytes that make a salt unique even where random numbers repeat, as after a virtual machine was copied with its random
 * state: counter, process, thread and times.
 */
function nextMoment(): Buffer {
  counter += 1n;
  const moment = Buffer.alloc(32);
  moment.writeBigUInt64BE(counter);
  moment.writeUInt32BE(process.pid, 8);
  moment.writeUInt32BE(threadId, 12);
  moment.writeDoubleBE(systemClock.monotonic(), 16);
  moment.writeDoubleBE(systemClock.now(), 24);
  return moment;
}

interface Generations {
  readonly current: number;
  readonly rootKeys: ReadonlyMap<number, Buffer>;
  readonly hedge: Buffer;
}

function generationsOf({ generations }: KeyMaterial): Generations {
  const current = generations.find((one) => one.state === 'current');
  if (current === undefined)
    throw new RepositoryError('CORRUPT_DATA', 'The keyring has no current key generation');
  return {
    current: current.g,
    rootKeys: new Map(generations.map((one) => [one.g, Buffer.from(one.key)])),
    hedge: expand(current.granted?.sealing?.sealer ?? current.key, 'hf1/hedge', 32),
  };
}

/** The generation that an object names but the keyring lacks; undefined for every other error. */
export function unknownGeneration(error: unknown): number | undefined {
  if (!(error instanceof RepositoryError) || error.code !== 'CORRUPT_DATA') return undefined;
  const { generation } = error.details;
  return typeof generation === 'number' ? generation : undefined;
}

/** Derives the keys of objects and chunk ids (docs/repository-format.md, section 4). */
export class ObjectKeys {
  readonly repository: Buffer;
  #material: KeyMaterial;
  #generations: Generations;
  readonly #typeKeys = new Map<string, Buffer>();
  readonly #sealingPairs = new Map<number, RawKeyPair>();

  constructor(material: KeyMaterial) {
    this.#material = material;
    this.repository = Buffer.from(material.repository);
    this.#generations = generationsOf(material);
  }

  get material(): KeyMaterial {
    return this.#material;
  }

  /** The generation under which new objects are sealed. */
  get generation(): number {
    return this.#generations.current;
  }

  knows(generation: number): boolean {
    return this.#generations.rootKeys.has(generation);
  }

  /** Replaces the generations for everybody who holds these keys in this thread. */
  adopt(generations: KeyMaterial['generations']): void {
    const material = { ...this.#material, generations };
    this.#generations = generationsOf(material);
    this.#material = material;
    this.#typeKeys.clear();
    this.#sealingPairs.clear();
  }

  /** Key and commitment of the object with this salt. */
  objectKey(
    type: KeyType,
    generation: number,
    salt: Buffer,
    object: string,
  ): { key: Buffer; commitment: Buffer } {
    const okm = hkdf(
      this.#typeKey(type, generation, object),
      salt,
      Buffer.concat([Buffer.from(`hf1/obj/${type}`, 'latin1'), this.repository]),
      64,
    );
    return { key: okm.subarray(0, 32), commitment: okm.subarray(32) };
  }

  /** The key of a new object of this type. */
  newObject(type: KeyType): NewObjectKey {
    const fresh = this.freshSalt();
    const { writeOnly = 0 } = this.#material;
    if (writeOnly === 0 || !isSealedType(type)) {
      return { salt: fresh, sealedBy: 0, ...this.objectKey(type, this.generation, fresh, 'a new object') };
    }
    const { sealing } = this.#granted(this.generation) ?? {};
    if (sealing === undefined) throw refuseReading();
    const own = publicKeyOf('x25519', fresh);
    const { public: to, sealer } = sealing;
    const shared = agree(fresh, to);
    const facts = { shared, sealer, own, sealing: to, type, repository: this.repository };
    return { salt: own, sealedBy: writeOnly, ...sealedObjectKey(facts) };
  }

  /**
   * Key and commitment of an object that write-only key `sealedBy` made.
   * @param own the object's public key, which is the salt in its header
   * @throws {RepositoryError} REFUSED for a write-only key, which cannot open such objects; CORRUPT_DATA
   */
  sealedObjectKey(
    type: KeyType,
    { generation, sealedBy, salt: own }: { generation: number; sealedBy: number; salt: Buffer },
    object: string,
  ): { key: Buffer; commitment: Buffer } {
    if (this.#material.writeOnly !== undefined) throw refuseReading();
    if (!isSealedType(type)) throw corrupt(object, 'it is of a type that is never sealed to a public key');
    const root = this.#rootKey(generation, object);
    let pair = this.#sealingPairs.get(generation);
    if (pair === undefined) {
      pair = sealingPair(root);
      this.#sealingPairs.set(generation, pair);
    }
    let shared: Buffer;
    try {
      shared = agree(pair.private, own);
    } catch (cause) {
      throw corrupt(object, 'it was sealed with a public key that gives no secret', cause);
    }
    const sealer = sealerKey(root, sealedBy);
    return sealedObjectKey({
      shared,
      sealer,
      own,
      sealing: pair.public,
      type,
      repository: this.repository,
    });
  }

  /** Undefined for keys that open everything. */
  get writeOnlyMark(): WriteOnlyMark | undefined {
    const { writeOnly } = this.#material;
    return writeOnly === undefined ? undefined : writeOnlyMark(this.repository, writeOnly);
  }

  /**
   * The namespace for the chunk ids of a new snapshot.
   * @throws {RepositoryError} REFUSED for options that a write-only key cannot use
   */
  newNamespace({ plain, isolated }: { readonly plain: boolean; readonly isolated: boolean }): Namespace {
    const mark = this.writeOnlyMark;
    if (mark === undefined) return { plain, salt: isolated ? randomBytes(16) : undefined };
    if (!plain && !isolated) return { plain, salt: mark.salt };
    const option = plain ? 'unencrypted' : 'without deduplication';
    throw new RepositoryError('REFUSED', `A write-only key cannot store anything ${option}`, {
      hint: 'Leave that option out, or back up from a machine that has the passphrase.',
    });
  }

  /** 32 bytes that no other object has. */
  freshSalt(): Buffer {
    return createHmac('sha256', this.#generations.hedge)
      .update(randomBytes(32))
      .update(this.#material.writer)
      .update(nextMoment())
      .update(BOOT)
      .digest();
  }

  /** Key of the chunk ids of data or trees in a namespace. */
  idKey(of: 'data' | 'tree', namespace: Namespace): Buffer {
    const { idData, idTree, idPlain } = this.#material;
    const mark = this.writeOnlyMark;
    if (mark !== undefined) {
      // A write-only key has only the keys of its own namespace.
      if (namespace.plain || namespace.salt === undefined || !mark.salt.equals(namespace.salt))
        throw refuseReading();
      return Buffer.from(of === 'data' ? idData : idTree);
    }
    const base = namespace.plain
      ? of === 'data'
        ? Buffer.from(idPlain)
        : expand(idPlain, 'hf1/id/plain-tree', 32)
      : Buffer.from(of === 'data' ? idData : idTree);
    if (namespace.salt === undefined) return base;
    return saltedKey(base, namespace.salt);
  }

  get chunkerKey(): Buffer {
    return Buffer.from(this.#material.cdc);
  }

  #typeKey(type: KeyType, generation: number, object: string): Buffer {
    const name = `${generation}/${type}`;
    let key = this.#typeKeys.get(name);
    if (key === undefined) {
      const root = this.#rootKey(generation, object);
      const granted = this.#granted(generation);
      key = granted === undefined ? typeKey(root, type) : grantedKey(granted, type);
      this.#typeKeys.set(name, key);
    }
    return key;
  }

  #rootKey(generation: number, object: string): Buffer {
    const root = this.#generations.rootKeys.get(generation);
    if (root !== undefined) return root;
    const message = `${object} names key generation ${generation}, which the keyring lacks`;
    throw new RepositoryError('CORRUPT_DATA', message, { details: { object, generation } });
  }

  #granted(generation: number): GrantedKeys | undefined {
    return this.#material.generations.find(({ g }) => g === generation)?.granted;
  }
}

/** The key of one type of objects in one generation. */
export function typeKey(root: Uint8Array, type: KeyType): Buffer {
  return expand(root, `hf1/key/${type}`, 32);
}

/** The key that snapshots with this salt use instead of `key`. */
export function saltedKey(key: Uint8Array, salt: Uint8Array): Buffer {
  return expand(key, Buffer.concat([Buffer.from('hf1/id/salt', 'latin1'), salt]), 32);
}

function grantedKey(granted: GrantedKeys, type: KeyType): Buffer {
  if (type === 'config' || type === 'tomb' || type === 'lease') return Buffer.from(granted[type]);
  throw refuseReading();
}

/** The error for every attempt to read with a write-only key. */
export function refuseReading(): RepositoryError {
  return new RepositoryError(
    'REFUSED',
    "This machine's key can add backups to the repository, but cannot read them",
    {
      hint: 'Run it on a machine that has the passphrase; or give the passphrase or the recovery code here, with --password-file.',
    },
  );
}

import { createHmac, randomBytes } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { RepositoryError } from '../base/errors.ts';
import type { KeyType } from '../format/header.ts';
import { expand, hkdf } from './kdf.ts';

export interface KeyGeneration {
  readonly g: number;
  readonly key: Buffer;
  readonly state: 'current' | 'old';
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
  }[];
}

/** The two namespaces of a repository: encrypted chunks and plain ones are never shared. */
export interface Namespace {
  readonly plain: boolean;
  /** Set for a snapshot that shares chunks with no other. */
  readonly salt?: Uint8Array | undefined;
}

const BOOT = randomBytes(16);
let counter = 0n;

/**
 * What tells one salt from every other even where random numbers repeat, as after a virtual machine was copied with its
 * random state: the process, the thread, how many salts it has made, and the time.
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
    hedge: expand(current.key, 'hf1/hedge', 32),
  };
}

/** The generation that an object names and that the keyring lacked; undefined for every other error. */
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

  constructor(material: KeyMaterial) {
    this.#material = material;
    this.repository = Buffer.from(material.repository);
    this.#generations = generationsOf(material);
  }

  get material(): KeyMaterial {
    return this.#material;
  }

  /** The generation that new objects are sealed under. */
  get generation(): number {
    return this.#generations.current;
  }

  knows(generation: number): boolean {
    return this.#generations.rootKeys.has(generation);
  }

  /** From now on these are the generations, for everybody who holds these keys in this thread. */
  adopt(generations: KeyMaterial['generations']): void {
    const material = { ...this.#material, generations };
    this.#generations = generationsOf(material);
    this.#material = material;
    this.#typeKeys.clear();
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
    const base = namespace.plain
      ? of === 'data'
        ? Buffer.from(idPlain)
        : expand(idPlain, 'hf1/id/plain-tree', 32)
      : Buffer.from(of === 'data' ? idData : idTree);
    if (namespace.salt === undefined) return base;
    return expand(base, Buffer.concat([Buffer.from('hf1/id/salt', 'latin1'), namespace.salt]), 32);
  }

  get chunkerKey(): Buffer {
    return Buffer.from(this.#material.cdc);
  }

  #typeKey(type: KeyType, generation: number, object: string): Buffer {
    const name = `${generation}/${type}`;
    let key = this.#typeKeys.get(name);
    if (key === undefined) {
      const root = this.#generations.rootKeys.get(generation);
      if (root === undefined) {
        throw new RepositoryError(
          'CORRUPT_DATA',
          `${object} names key generation ${generation}, which the keyring lacks`,
          {
            details: { object, generation },
          },
        );
      }
      key = expand(root, `hf1/key/${type}`, 32);
      this.#typeKeys.set(name, key);
    }
    return key;
  }
}

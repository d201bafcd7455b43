/** The secrets of a repository that a write-only key gets (docs/repository-format.md, section 12). */
import { corrupt } from '../base/errors.ts';
import { decodeCborMap, encodeCbor } from './cbor.ts';
import { padded, unpadded } from './keyring.ts';

export interface Grant {
  readonly repository: Buffer;
  /** Number of the key. */
  readonly number: number;
  /** Keys of chunk ids and chunker, for the write-only key's own namespace. */
  readonly idData: Buffer;
  readonly idTree: Buffer;
  readonly cdc: Buffer;
  readonly adminPublic: Buffer;
  readonly generations: readonly {
    readonly g: number;
    readonly config: Buffer;
    readonly tomb: Buffer;
    readonly lease: Buffer;
  }[];
  /**
   * The generation under which the key stores, the public key to which it seals, and the secret that proves an object
   * is by this key.
   */
  readonly current: { readonly g: number; readonly public: Buffer; readonly sealer: Buffer };
  readonly minFormat: number;
}

/** CBOR, padded as keyrings are. */
export function encodeGrant(grant: Grant): Buffer {
  return padded(
    encodeCbor({
      repo: grant.repository,
      number: grant.number,
      id_data: grant.idData,
      id_tree: grant.idTree,
      cdc: grant.cdc,
      admin_public: grant.adminPublic,
      gens: grant.generations.map(({ g, config, tomb, lease }) => ({ g, config, tomb, lease })),
      current: { g: grant.current.g, public: grant.current.public, sealer: grant.current.sealer },
      min_format: grant.minFormat,
    }),
  );
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decodeGrant(bytes: Buffer, object: string): Grant {
  const map = decodeCborMap(unpadded(bytes, object), object);
  const current = map.map('current');
  const grant: Grant = {
    repository: map.bytes('repo', 16),
    number: map.integer('number', 1, 0xffff_ffff),
    idData: map.bytes('id_data', 32),
    idTree: map.bytes('id_tree', 32),
    cdc: map.bytes('cdc', 32),
    adminPublic: map.bytes('admin_public', 32),
    generations: map.maps('gens', 1_000).map((one) => ({
      g: one.integer('g', 1, 0xffff_ffff),
      config: one.bytes('config', 32),
      tomb: one.bytes('tomb', 32),
      lease: one.bytes('lease', 32),
    })),
    current: {
      g: current.integer('g', 1, 0xffff_ffff),
      public: current.bytes('public', 32),
      sealer: current.bytes('sealer', 32),
    },
    minFormat: map.integer('min_format', 1, 1_000),
  };
  if (!grant.generations.some(({ g }) => g === grant.current.g))
    throw corrupt(object, 'its current key generation is not among its generations');
  return grant;
}

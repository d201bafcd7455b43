import { asByteString, type ByteString } from '../base/byte-path.ts';
import { corrupt, newerFormat } from '../base/errors.ts';
import type { SourceName } from '../base/source-names.ts';
import { decodeCborMap, encodeCbor, type CborMap, type RecordReader } from './cbor.ts';
import { omissionMap, omissionOf, omissionOfText, omissionText, type Omission } from './omission.ts';
import {
  CHAIN_CONTEXT_BYTES,
  MAX_SEQ,
  MAX_NUMBER,
  encodeChainContext,
  type ChainPosition,
  type ChainPlace,
} from './chain-position.ts';

/** A source entry that is missing from a snapshot, or is not what it should be, and why. */
export interface EntryProblem {
  readonly path: ByteString;
  /** errno name, `CHANGED` or `TOO_DEEP`. */
  readonly code: string;
  readonly message: string;
}

export interface SnapshotCounts {
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  readonly others: number;
  /** Logical bytes of the regular files. */
  readonly bytes: number;
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
}

export interface Owners {
  readonly users: Readonly<Record<string, string>>;
  readonly groups: Readonly<Record<string, string>>;
}

export interface SnapshotRecord {
  readonly tool: string;
  readonly host: string;
  readonly user: string;
  /** Absolute source paths. */
  readonly paths: readonly ByteString[];
  /** The names of those `paths` that were given by another path, such as a link; absent where there are none. */
  readonly named?: readonly SourceName[] | undefined;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly finishedMs: number;
  readonly root: Buffer;
  readonly plain: boolean;
  readonly salt?: Buffer | undefined;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly status: 'complete' | 'partial';
  readonly errors: readonly EntryProblem[];
  readonly errorsMore: number;
  readonly counts: SnapshotCounts;
  readonly owners: Owners;
  /** Parts of entries that could not be captured. */
  readonly omitted: readonly Omission[];
  readonly parent?: string | undefined;
  readonly original?: string | undefined;
  /**
   * For a snapshot of a write-only key that another host has stored again: the key's number, and when the storage
   * received it first.
   */
  readonly writeOnly?: { readonly number: number; readonly storedMs: number } | undefined;
  /**
   * For a snapshot that stands for another one, possibly in another repository: the place of the record that the run
   * itself stored.
   */
  readonly run?: ChainPlace | undefined;
  readonly kind: 'files' | 'stream';
}

const COUNT_FIELDS = [
  'files',
  'directories',
  'links',
  'others',
  'bytes',
  'new',
  'changed',
  'unchanged',
  'failed',
] as const;

export const MAX_LISTED_ERRORS = 10_000;
/** Limits for the lists of a snapshot, since those of all snapshots are in memory at once. */
const MOST_TAGS = 10_000;
const MOST_OMITTED = 10_000;

export function encodeSnapshot(record: SnapshotRecord): Buffer {
  const map: Record<string, CborMap[string]> = {
    v: 1,
    tool: record.tool,
    host: record.host,
    user: record.user,
    paths: record.paths.map(rawBytes),
    started: record.startedMs,
    finished: record.finishedMs,
    root: record.root,
    plain: record.plain,
    tags: [...record.tags],
    pinned: record.pinned,
    status: record.status,
    errors: record.errors.map(({ path, code, message }) => ({ path: rawBytes(path), code, message })),
    errors_more: record.errorsMore,
    counts: { ...record.counts },
    owners: { users: { ...record.owners.users }, groups: { ...record.owners.groups } },
    omitted: record.omitted.map(omissionText),
    kind: record.kind,
  };
  if (record.omitted.length > 0) map['omitted_codes'] = record.omitted.map(omissionMap);
  if (record.salt !== undefined) map['salt'] = record.salt;
  if (record.named !== undefined)
    map['named'] = record.named.map(({ name, path }) => ({ name: rawBytes(name), path: rawBytes(path) }));
  if (record.parent !== undefined) map['parent'] = Buffer.from(record.parent, 'hex');
  if (record.original !== undefined) map['original'] = Buffer.from(record.original, 'hex');
  if (record.run !== undefined) map['run'] = encodePlace(record.run);
  if (record.writeOnly !== undefined)
    map['write_only'] = { number: record.writeOnly.number, stored: record.writeOnly.storedMs };
  return encodeCbor(map);
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decodeSnapshot(bytes: Buffer, object: string): SnapshotRecord {
  const map = decodeCborMap(bytes, object);
  requireVersion(map);
  const counts = map.map('counts');
  const owners = map.map('owners');
  return {
    tool: map.text('tool'),
    host: map.text('host'),
    user: map.text('user'),
    paths: map.byteStrings('paths').map(byteStringOf),
    named: map.has('named')
      ? map.maps('named', 1_000_000).map((one) => ({
          name: byteStringOf(one.bytes('name')),
          path: byteStringOf(one.bytes('path')),
        }))
      : undefined,
    startedMs: map.integer('started', -8.64e15, 8.64e15),
    finishedMs: map.integer('finished', -8.64e15, 8.64e15),
    root: map.bytes('root', 24),
    plain: map.boolean('plain'),
    salt: map.has('salt') ? map.bytes('salt', 16) : undefined,
    tags: atMost(map, 'tags', map.texts('tags'), MOST_TAGS),
    pinned: map.boolean('pinned'),
    status: oneOf(map, 'status', ['complete', 'partial'] as const),
    errors: map.maps('errors', MAX_LISTED_ERRORS).map((error) => ({
      path: byteStringOf(error.bytes('path')),
      code: error.text('code'),
      message: error.text('message'),
    })),
    errorsMore: map.integer('errors_more'),
    counts: Object.fromEntries(
      COUNT_FIELDS.map((field) => [field, counts.integer(field)]),
    ) as unknown as SnapshotCounts,
    owners: { users: nameTable(owners.map('users')), groups: nameTable(owners.map('groups')) },
    omitted: omissionsOf(map),
    parent: map.has('parent') ? map.bytes('parent', 32).toString('hex') : undefined,
    original: map.has('original') ? map.bytes('original', 32).toString('hex') : undefined,
    writeOnly: map.has('write_only') ? writeOnlyOrigin(map.map('write_only')) : undefined,
    run: map.has('run') ? decodePlace(map.bytes('run', PLACE_BYTES), object) : undefined,
    kind: oneOf(map, 'kind', ['files', 'stream'] as const),
  };
}

export interface HeadRecord {
  /** Name of the newest record of the chain. */
  readonly record: string;
  readonly live: number;
}

export function encodeHead(head: HeadRecord): Buffer {
  return encodeCbor({ v: 1, record: Buffer.from(head.record, 'hex'), live: head.live });
}

export function decodeHead(bytes: Buffer, object: string): HeadRecord {
  const map = decodeCborMap(bytes, object);
  requireVersion(map);
  return { record: map.bytes('record', 32).toString('hex'), live: map.integer('live') };
}

export interface TombstoneRecord {
  readonly kind: 'snapshots' | 'packs';
  readonly names: readonly string[];
  /** The place of each named record in its chain, as far as known, so that a removed record leaves no gap. */
  readonly places?: readonly (ChainPlace | undefined)[];
  /**
   * `damaged`, `repaired` and `compacted` have the meanings in docs/repository-format.md; every other reason is for
   * people to read.
   */
  readonly reason: string;
  /** Id of the snapshot that replaces the named one. */
  readonly replacedBy?: string;
  /** Milliseconds since 1970: for packs by the storage's clock, for snapshots by the machine's. */
  readonly atMs: number;
  /** Epoch of the prune lease, 0 when none was held. */
  readonly fence: number;
}

/** Encodes a map together with its signature. */
export function encodeSigned(map: CborMap, sign: (unsigned: Buffer) => Buffer): Buffer {
  return encodeCbor({ ...map, signature: sign(encodeCbor(map)) });
}

/**
 * @param chain the position at which the tombstone is stored, where alone it is valid. Undefined makes one as previews
 * of 0.1 did.
 */
export function tombstoneMap(record: TombstoneRecord, chain?: ChainPosition): CborMap {
  return {
    v: 1,
    ...(chain === undefined ? {} : { chain: encodeChainContext(chain) }),
    kind: record.kind,
    names: record.names.map((name) => Buffer.from(name, 'hex')),
    ...(record.places === undefined ? {} : { places: record.places.map(encodePlace) }),
    reason: record.reason,
    ...(record.replacedBy === undefined ? {} : { replaced_by: Buffer.from(record.replacedBy, 'hex') }),
    at: record.atMs,
    fence: record.fence,
  };
}

const PLACE_BYTES = 24;

/** An unknown place is all zeros, which is unambiguous since the first record of a writer has number 1. */
function encodePlace(place: ChainPlace | undefined): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES);
  if (place === undefined) return bytes;
  bytes.write(place.writer, 0, 'hex');
  bytes.writeBigUInt64BE(BigInt(place.seq), PLACE_BYTES - 8);
  return bytes;
}

function decodePlace(bytes: Buffer, object: string): ChainPlace | undefined {
  const seq = Number(bytes.readBigUInt64BE(PLACE_BYTES - 8));
  if (seq > MAX_SEQ) throw corrupt(object, 'it gives a place that no record can have');
  return seq === 0 ? undefined : { writer: bytes.toString('hex', 0, 16), seq };
}

/** A signed record. `signed` is what the signature covers: every field of the stored map but the signature, known or not. */
export interface Signed<T> {
  readonly record: T;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** The parts that are needed to verify a record's signature before anything else, whatever its version. */
export function signedPart(bytes: Buffer, object: string): Omit<Signed<unknown>, 'record'> {
  const map = decodeCborMap(bytes, object);
  return { signed: map.encodedWithout('signature'), signature: map.bytes('signature', 64) };
}

/** How tombstones without `replaced_by` name the replacement; still written for older readers. */
export function replacedReason(id: string): string {
  return `replaced by ${id}`;
}

const REPLACED = /^replaced by ([0-9a-f]{64})$/;

/** `chain`: the context for which the tombstone was signed; undefined for an unbound one. */
export type SignedTombstone = Signed<TombstoneRecord> & { readonly chain: Buffer | undefined };

/** @throws {RepositoryError} CORRUPT_DATA, NEWER_FORMAT */
export function decodeTombstone(bytes: Buffer, object: string): SignedTombstone {
  const map = decodeCborMap(bytes, object);
  requireVersion(map);
  const names = map.byteStrings('names', 32).map((name) => name.toString('hex'));
  const places = map.has('places')
    ? map.byteStrings('places', PLACE_BYTES).map((place) => decodePlace(place, object))
    : undefined;
  if (places !== undefined && places.length !== names.length)
    throw corrupt(object, 'it does not give a place for each name');
  const reason = map.text('reason');
  const replacedBy = map.has('replaced_by')
    ? map.bytes('replaced_by', 32).toString('hex')
    : REPLACED.exec(reason)?.[1];
  const record: TombstoneRecord = {
    kind: oneOf(map, 'kind', ['snapshots', 'packs'] as const),
    names,
    ...(places === undefined ? {} : { places }),
    reason,
    ...(replacedBy === undefined ? {} : { replacedBy }),
    atMs: map.integer('at'),
    fence: map.integer('fence'),
  };
  return {
    record,
    chain: map.has('chain') ? map.bytes('chain', CHAIN_CONTEXT_BYTES) : undefined,
    signed: map.encodedWithout('signature'),
    signature: map.bytes('signature', 64),
  };
}

/** Parameters that all writers of a repository follow. */
export interface ConfigRecord {
  readonly repository: Buffer;
  readonly minFormat: number;
  readonly createdMs: number;
  readonly chunker: { readonly min: number; readonly avg: number; readonly max: number };
  /** Bytes. */
  readonly packTarget: number;
  readonly segmentTarget: number;
  readonly graceSeconds: number;
}

/**
 * @param n the number under which the configuration is stored, where alone it is valid. Undefined makes one as previews
 * of 0.1 did.
 */
export function configMap(config: ConfigRecord, n?: number): CborMap {
  return {
    v: 1,
    ...(n === undefined ? {} : { n }),
    repo: config.repository,
    min_format: config.minFormat,
    created: config.createdMs,
    chunker: { ...config.chunker },
    pack_target: config.packTarget,
    segment_target: config.segmentTarget,
    grace: config.graceSeconds,
  };
}

/** `n`: the number for which the configuration was signed; undefined for an unbound one. */
export type SignedConfig = Signed<ConfigRecord> & { readonly n: number | undefined };

/** @throws {RepositoryError} CORRUPT_DATA, NEWER_FORMAT */
export function decodeConfig(bytes: Buffer, object: string): SignedConfig {
  const map = decodeCborMap(bytes, object);
  requireVersion(map);
  const chunker = map.map('chunker');
  const record: ConfigRecord = {
    repository: map.bytes('repo', 16),
    minFormat: map.integer('min_format', 1, 1_000),
    createdMs: map.integer('created'),
    chunker: {
      min: chunker.integer('min', 4_096, 8_388_608),
      avg: chunker.integer('avg', 4_096, 8_388_608),
      max: chunker.integer('max', 4_096, 8_388_608),
    },
    packTarget: map.integer('pack_target', 65_536, 134_217_728),
    segmentTarget: map.integer('segment_target', 65_536, 8_388_608),
    graceSeconds: map.integer('grace'),
  };
  if (record.chunker.min > record.chunker.avg || record.chunker.avg > record.chunker.max) {
    throw corrupt(object, 'its chunker sizes are not in order');
  }
  return { record, ...signedPartOf(map) };
}

/** The parts that are needed to verify the signature before anything else, whatever the version. */
export function signedConfig(bytes: Buffer, object: string): Omit<SignedConfig, 'record'> {
  return signedPartOf(decodeCborMap(bytes, object));
}

function signedPartOf(map: RecordReader): Omit<SignedConfig, 'record'> {
  return {
    n: map.has('n') ? map.integer('n', 1, MAX_NUMBER) : undefined,
    signed: map.encodedWithout('signature'),
    signature: map.bytes('signature', 64),
  };
}

/** @throws {RepositoryError} NEWER_FORMAT when the record needs a newer reader, CORRUPT_DATA when it has no version */
export function requireVersion(map: RecordReader): void {
  if (map.integer('v', 1) > 1) throw newerFormat(map.object);
}

export function oneOf<T extends string>(map: RecordReader, field: string, values: readonly T[]): T {
  const text = map.text(field);
  const value = values.find((one) => one === text);
  if (value === undefined) throw corrupt(map.object, `its field "${field}" has an unknown value`);
  return value;
}

function omissionsOf(map: RecordReader): readonly Omission[] {
  const texts = atMost(map, 'omitted', map.texts('omitted'), MOST_OMITTED);
  if (!map.has('omitted_codes')) return texts.map(omissionOfText);
  const codes = map.maps('omitted_codes', MOST_OMITTED);
  if (codes.length !== texts.length) throw corrupt(map.object, 'it does not give a code for each omission');
  return codes.map((one, n) => omissionOf(one, texts[n] ?? ''));
}

function writeOnlyOrigin(map: RecordReader): NonNullable<SnapshotRecord['writeOnly']> {
  return { number: map.integer('number', 1, 0xffff_ffff), storedMs: map.integer('stored') };
}

function atMost<T>({ object }: RecordReader, field: string, list: readonly T[], most: number): readonly T[] {
  if (list.length > most) throw corrupt(object, `its field "${field}" has more than ${most} parts`);
  return list;
}

function nameTable(map: RecordReader): Record<string, string> {
  return Object.fromEntries(map.fields().map((id) => [id, map.text(id, 1_024)]));
}

function rawBytes(text: ByteString): Buffer {
  return Buffer.from(text, 'latin1');
}

function byteStringOf(bytes: Buffer): ByteString {
  return asByteString(bytes.toString('latin1'));
}

export {
  MAX_EPOCH,
  MAX_NUMBER,
  MAX_SEQ,
  NO_RECORD,
  decodeChainContext,
  encodeChainContext,
  type ChainPlace,
  type ChainPosition,
} from './chain-position.ts';

/** Whoever has taken over a machine with a write-only key: what all that it has is good for. */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { agree } from '../../src/codec/curves.ts';
import { expand, hkdf } from '../../src/codec/kdf.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE } from '../../src/codec/seal.ts';
import { sealedObjectKey, sealerKey, sealingPair, type SealedType } from '../../src/codec/write-only.ts';
import {
  CIPHER_GCM,
  CIPHER_PLAIN,
  OBJECT_TYPES,
  decodeHeader,
  encodeHeader,
  keyTypeOf,
  type Cipher,
} from '../../src/format/header.ts';
import { encodeIndexObject, encodeIndexedPack } from '../../src/format/index-object.ts';
import { encodePackDirectory, encodeTail, padme } from '../../src/format/pack.ts';
import { encodeChainContext, encodeSnapshot, NO_RECORD } from '../../src/format/records.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { readPackDirectory } from '../../src/repository/chunk-index.ts';
import { openRing } from '../../src/repository/slots/key-slots.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { removeKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import { listNamed, packKey } from '../../src/repository/objects/listing.ts';
import { compressRecord, sealObject, sha256 } from '../../src/repository/objects/objects.ts';
import { planPrune, prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { SILENT_REKEY, rekey } from '../../src/repository/renew/rekey.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { LedgerDatabase } from '../../src/cache/ledger-database.ts';
import { systemClock } from '../../src/base/clock.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { never, openEngine, requestFor, type Engine } from '../support/engine.ts';
import { writeOnlyHost, type WriteOnlyHost } from '../support/write-only-host.ts';
import { namesBelow } from '../support/names-below.ts';

const SECRET = 'the salary of everybody';
const NAME = 'payroll-of-all';

let engine: Engine;
let host: WriteOnlyHost;
/** What the thief opens the repository as. */
let thief: Repository;
let own: Snapshot;
let foreign: Snapshot;
const objects = new Map<string, Buffer>();
const state: Buffer[] = [];

beforeAll(async () => {
  engine = await openEngine();
  mkdirSync(join(engine.source, 'd'));
  writeFileSync(join(engine.source, 'd', NAME), SECRET.repeat(20));
  writeFileSync(join(engine.source, 'd/large'), createHash('shake256', { outputLength: 300_000 }).digest());
  await delay(60);
  host = await writeOnlyHost(engine, 'server');
  ({ snapshot: own } = await host.backup());
  ({ snapshot: foreign } = await archive(requestFor(host.full, [engine.source]), SILENT, never));
  await host.backup();
  thief = await host.open();
  for await (const page of engine.calls.list('', never))
    for (const { key } of page) objects.set(key, await engine.calls.get(key, undefined, never));
  for (const name of namesBelow(host.state))
    if (/\.(?:json|db|db-wal)$/.test(name)) state.push(readFileSync(join(host.state, name)));
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
});

test('names and contents stand nowhere in its state, nor in the repository', () => {
  expect(state.length).toBeGreaterThan(1);
  const needles = [SECRET, NAME, 'payroll'].flatMap((text) => [text, Buffer.from(text).toString('hex')]);
  const hits = [...state, ...objects.values()].filter((bytes) =>
    needles.some((needle) => bytes.includes(needle)),
  );
  expect(hits).toHaveLength(0);
});

/** Tries a secret as whatever could open an object: returns what it turned out to be. */
function opens(secret: Buffer, start: Buffer, sealers: readonly Buffer[]): string | undefined {
  const header = decodeHeader(start, 'o');
  const type = keyTypeOf(header.type);
  const { repository } = thief.keys;
  const symmetric = (key: Uint8Array): Buffer =>
    hkdf(key, header.salt, Buffer.concat([Buffer.from(`hf1/obj/${type}`), repository]), 64).subarray(32);
  const sealed = (own: Buffer, sealing: Buffer, sealer: Buffer): Buffer => {
    const facts = { shared: agree(own, header.salt), sealer, own: header.salt, sealing, repository };
    return sealedObjectKey({ ...facts, type: type as SealedType }).commitment;
  };
  if (header.sealedBy === 0) {
    if (symmetric(secret).equals(header.commitment)) return 'type key';
    return symmetric(expand(secret, `hf1/key/${type}`, 32)).equals(header.commitment)
      ? 'root key'
      : undefined;
  }
  const pair = sealingPair(secret);
  const all = [sealerKey(secret, header.sealedBy), ...sealers];
  if (all.some((sealer) => sealed(pair.private, pair.public, sealer).equals(header.commitment)))
    return 'root key';
  const sealing = Buffer.from(thief.keyring.generations[0]?.granted?.sealing?.public ?? []);
  return all.some((sealer) => sealed(secret, sealing, sealer).equals(header.commitment))
    ? 'private key'
    : undefined;
}

test('no secret that it holds opens a snapshot, head, pack or index object, of itself or of others', () => {
  const { keyring } = thief;
  const granted = keyring.generations.flatMap(({ granted }) =>
    granted === undefined
      ? []
      : [granted.config, granted.tomb, granted.lease, granted.sealing?.sealer, granted.sealing?.public],
  );
  const known = [
    ...granted,
    keyring.idData,
    keyring.idTree,
    keyring.cdc,
    keyring.adminPublic,
    thief.slot.private,
    thief.slot.ringAuth,
    host.secret.kind === 'passphrase' ? undefined : host.secret.secret,
  ].filter((one) => one !== undefined);
  expect(known).toHaveLength(12);
  // And whatever stands in its files, at each place where a database or JSON would put it.
  const inFiles = state.flatMap((bytes) => [
    ...windows(bytes),
    ...[...bytes.toString('latin1').matchAll(/[0-9a-f]{64}/g)].map(([hex]) => Buffer.from(hex, 'hex')),
  ]);
  const sealers = granted.filter((one) => one !== undefined);
  const wanted = [...objects].filter(([key]) => /^(?:snapshots|heads|packs|index)\//.test(key));
  expect(new Set(wanted.map(([key]) => key.slice(0, key.indexOf('/')))).size).toBe(4);
  const found: string[] = [];
  for (const [key, bytes] of wanted)
    for (const secret of known) {
      const as = opens(secret, bytes, sealers);
      if (as !== undefined) found.push(`${key}: ${as}`);
    }
  const [some, more] = wanted.filter(([key]) => key.startsWith('snapshots/'));
  for (const [, bytes] of [some, more].filter((one) => one !== undefined))
    for (const secret of inFiles) if (opens(secret, bytes, [])) found.push('a secret in a file');
  expect(found).toEqual([]);

  // The attack is sound: with the root key it opens every one of them.
  const root = host.full.keyring.generations[0]?.key ?? Buffer.alloc(32);
  expect(wanted.map(([, bytes]) => opens(root, bytes, []))).toEqual(wanted.map(() => 'root key'));
});

/** Stretches of 32 bytes that could be keys: not those of text or zeros. */
function windows(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 32 <= bytes.length; at += 1) {
    const window = bytes.subarray(at, at + 32);
    if (new Set(window).size >= 24 && window.some((byte) => byte >= 128)) found.push(window);
  }
  return found.filter((_, i) => i % Math.ceil(found.length / 2_000) === 0);
}

test('what it stores in the name of others, or of what it may not make, is refused', async () => {
  const { keys } = thief;
  const stranger = encodeChainContext({ writer: foreign.chain.writer, seq: 9, prev: NO_RECORD });
  const itself = encodeChainContext({ writer: own.chain.writer, seq: 9, prev: NO_RECORD });
  const make = (context: Buffer, record: Snapshot['record']): Buffer => {
    const seal = ObjectSeal.create(keys, OBJECT_TYPES.snapshot, CIPHER_GCM, context);
    return Buffer.concat([seal.prefix, seal.seal(0, encodeSnapshot(record))]);
  };
  const asAnother = make(stranger, own.record);
  const ofOthersChunks = make(itself, { ...foreign.record, salt: undefined });
  const otherNumber = make(itself, own.record);
  otherNumber.writeUInt32BE(2, 76);
  const forged = [asAnother, ofOthersChunks, otherNumber];
  for (const bytes of forged) await engine.calls.put(`snapshots/${sha256(bytes)}`, bytes, never);

  const { live, damaged } = await listSnapshots(host.full, never);
  expect(live).toHaveLength(3);
  const reasons = new Map(damaged.map(({ id, error }) => [id, error.message]));
  expect(forged.map((bytes) => reasons.get(sha256(bytes)))).toEqual([
    expect.stringContaining('is not the writer that it names'),
    expect.stringContaining('is not allowed to use the chunks that it names'),
    expect.stringContaining("was not sealed with this repository's key"),
  ]);
  for (const bytes of forged) await engine.calls.delete(`snapshots/${sha256(bytes)}`, never);

  expect(() => ObjectSeal.create(keys, OBJECT_TYPES.index, CIPHER_GCM, Buffer.alloc(0))).toThrow(
    'cannot read',
  );
  const header = { type: OBJECT_TYPES.index, cipher: CIPHER_GCM, generation: 1, salt: Buffer.alloc(32, 1) };
  const index = encodeHeader({ ...header, commitment: Buffer.alloc(32), sealedBy: 1 });
  expect(() => decodeHeader(index, 'index object')).toThrow('impossible values');
});

test('a ring of its own making is passed over by everybody', async () => {
  const ring = objects.get('keys/ring-2') ?? Buffer.alloc(0);
  expect(() => openRing(ring, 3, { ...thief.slot, writeOnly: true })).toThrow('not signed');
  // All that it has for authenticating rings is a public key.
  const forged = { ...host.full.slot, ringAuth: thief.slot.ringAuth };
  expect(() => openRing(ring, 2, forged)).toThrow('not authentic');
  await engine.calls.put('keys/ring-3', ring, never);
  for (const secret of [engine.secret, host.secret]) {
    const opened = await openRepository(
      engine.calls,
      secret,
      { clock: systemClock, stateDirectory: undefined },
      never,
    );
    expect(opened.ringNumber).toBe(2);
  }
  await engine.calls.delete('keys/ring-3', never);
});

test('a pack that pretends to hold chunks of earlier backups displaces none of them', async () => {
  const ids = storedIds();
  expect(ids.length).toBeGreaterThan(3);
  await delay(5);
  const planted = garbagePacks(ids);
  for (const { name, bytes } of planted) await engine.calls.put(packKey(name), bytes, never);
  await delay(5);
  const plan = await planPrune(host.full, { noOtherWriters: true, graceSeconds: 0 }, never);
  expect(plan.unreadable).toEqual([]);
  expect(plan.mark.map(({ name }) => name).sort()).toEqual(planted.map(({ name }) => name).sort());
  await prune(host.full, { noOtherWriters: true, graceSeconds: 0 }, SILENT_PRUNE, never);
  await prune(host.full, { noOtherWriters: true, graceSeconds: 0 }, SILENT_PRUNE, never);

  const { source } = await engine.restoreTo('restored', own, { repository: host.full });
  expect(compareTrees(engine.source, source)).toEqual([]);
  const { status } = await check(host.full, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
  expect(status).toBe('ok');
});

test('a check that finds an index object wrong counts such packs last, too', async () => {
  await delay(5);
  const planted = garbagePacks(storedIds());
  const entries = await Promise.all(
    planted.map(async ({ name, bytes }) => {
      await engine.calls.put(packKey(name), bytes, never);
      const pack = await readPackDirectory(host.full, name, bytes.length, never);
      const ids = Buffer.from(pack.directory.ids);
      ids.writeUInt8(ids.readUInt8(0) ^ 1, 0);
      return encodeIndexedPack({ ...pack, directory: { ...pack.directory, ids } });
    }),
  );
  // It names the planted packs alone, so that they are met before all others.
  const older = [...(await listNamed(engine.calls, 'index/', never)).keys()];
  const raw = compressRecord(encodeIndexObject(older, entries));
  const wrong = sealObject(host.full.keys, OBJECT_TYPES.index, Buffer.alloc(0), raw);
  await engine.calls.put(`index/${wrong.name}`, wrong.bytes, never);
  const { findings } = await check(host.full, { readData: false, workers: 0 }, SILENT_CHECK, never);
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ object }) => object)).toEqual([`index object ${wrong.name}`]);
  await engine.calls.delete(`index/${wrong.name}`, never);
  for (const { name } of planted) await engine.calls.delete(packKey(name), never);
});

test('such packs under newer keys displace none either, when everything older is sealed anew', async () => {
  await rotateKeys(host.full, never);
  await thief.followRing(never);
  expect(thief.keys.generation).toBe(2);
  await delay(5);
  const planted = garbagePacks(storedIds());
  for (const { name, bytes } of planted) await engine.calls.put(packKey(name), bytes, never);
  await delay(5);
  const first = await rekey(host.full, {}, SILENT_REKEY, never);
  // Those that the full key stored; of the others every one is still needed.
  expect(first.markedPacks).toBe(first.packs);
  expect(first.left.writeOnly.length).toBeGreaterThan(1);
  await removeKey(host.full, host.slot, never);
  await delay(5);
  const { skipped, packs } = await rekey(host.full, {}, SILENT_REKEY, never);
  expect(skipped).toEqual([]);
  expect(packs).toBeGreaterThan(1);
  await prune(host.full, { noOtherWriters: true, graceSeconds: 0 }, SILENT_PRUNE, never);
  await delay(5);
  await prune(host.full, { noOtherWriters: true, graceSeconds: 0 }, SILENT_PRUNE, never);

  const { source } = await engine.restoreTo('restored', own, { repository: host.full });
  expect(compareTrees(engine.source, source)).toEqual([]);
  const { status } = await check(host.full, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
  expect(status).toBe('ok');
});

/** The short ids of all chunks that the machine's notes name. */
function storedIds(): readonly Buffer[] {
  const [database] = readdirSync(join(host.state, 'cache')).filter((name) => name.endsWith('.db'));
  const ledger = new LedgerDatabase(join(host.state, 'cache', database ?? ''), systemClock);
  const ids = ledger
    .packs()
    .flatMap(({ ids: some }) =>
      Array.from({ length: some.length / 16 }, (_, i) => some.subarray(i * 16, i * 16 + 16)),
    );
  ledger.close();
  return ids;
}

interface Garbage {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Of data and of trees, sealed with its key and, for which nobody needs one, not sealed at all. */
function garbagePacks(short: readonly Buffer[]): readonly Garbage[] {
  return ([CIPHER_GCM, CIPHER_PLAIN] as const).flatMap((cipher) =>
    (['data', 'tree'] as const).map((kind) => garbagePack(kind, cipher, short)),
  );
}

/** As its own backup would store it, but for what the chunks hold. */
function garbagePack(kind: 'data' | 'tree', cipher: Cipher, short: readonly Buffer[]): Garbage {
  const type = kind === 'data' ? OBJECT_TYPES.dataPack : OBJECT_TYPES.treePack;
  const seal = ObjectSeal.create(thief.keys, type, cipher, Buffer.alloc(0));
  const raw = Buffer.alloc(short.length * 100, 7);
  const context = { rawLength: raw.length, compression: 0 as const };
  const segment = seal.seal(0, raw, context);
  const directoryLength = 12 + 12 + short.length * 27 + 16;
  const packLength = padme(80 + segment.length + directoryLength + 16 + 16);
  const paddingLength = packLength - 80 - segment.length - directoryLength - 16;
  const directory = encodePackDirectory({
    kind,
    packLength,
    segments: [{ offset: 80, storedLength: segment.length, ...context, chunks: short.length }],
    lengths: new Uint32Array(short.length).fill(100),
    ids: Buffer.concat(short.map((id) => Buffer.concat([id, Buffer.alloc(8)]))),
    idBytes: 24,
  });
  const bytes = Buffer.concat([
    seal.prefix,
    segment,
    seal.seal(PADDING_SEQUENCE, Buffer.alloc(paddingLength - 16)),
    seal.seal(DIRECTORY_SEQUENCE, directory),
    encodeTail({ directoryOffset: packLength - 16 - directoryLength, directoryLength, paddingLength }),
  ]);
  return { name: sha256(bytes), bytes };
}

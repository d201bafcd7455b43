import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Cutter } from '../../../src/archiver/read/cutter.ts';
import { asByteString } from '../../../src/base/byte-path.ts';
import { Chunker } from '../../../src/codec/chunker.ts';
import { ChunkHasher } from '../../../src/codec/hash.ts';
import { argon2id, expand, hkdf } from '../../../src/codec/kdf.ts';
import { ObjectKeys, type KeyMaterial } from '../../../src/codec/keys.ts';
import { formatRecoveryCode, parseRecoveryCode } from '../../../src/codec/recovery-code.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal } from '../../../src/codec/seal.ts';
import { decodeCborMap } from '../../../src/format/cbor.ts';
import type { Cipher, KeyType, ObjectType } from '../../../src/format/header.ts';
import { decodeIndexObject, encodeIndexObject } from '../../../src/format/index-object.ts';
import { decodeKeyring, encodeKeyring } from '../../../src/format/keyring.ts';
import { decodePackDirectory, decodeTail, padme } from '../../../src/format/pack.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../src/format/records.ts';
import { decodeTreeChunk } from '../../../src/format/tree-decode.ts';
import {
  ByteWriter,
  encodeBranch,
  encodeEntry,
  encodeLeaf,
  encodeList,
} from '../../../src/format/tree-encode.ts';
import type { Entry, Hole } from '../../../src/format/tree.ts';
import { openRing, openSlot } from '../../../src/repository/slots/key-slots.ts';
import { decompressRecord, openObject, sealObject } from '../../../src/repository/objects/objects.ts';
import { PackWriter, type FinishedPack } from '../../../src/repository/packs/pack-writer.ts';
import { SegmentOpener } from '../../../src/repository/contents/segment-reader.ts';
import { fillTable } from '../../../src/repository/chunk-index.ts';
import { FixedSaltKeys } from '../../support/fixed-salts.ts';
import { formatVectors, pseudoRandom, type FormatVectors } from '../../support/format-vectors.ts';
import { decodeSlot } from '../../../src/repository/slots/slot-file.ts';

const vectors: FormatVectors = JSON.parse(
  readFileSync(new URL('../../../docs/vectors/format-1.json', import.meta.url), 'utf8'),
);
const bytes = (text: string): Buffer => Buffer.from(text, 'hex');

const material: KeyMaterial = {
  repository: bytes(vectors.repo),
  writer: Buffer.alloc(16),
  idData: bytes(vectors.chunk_ids.id_data),
  idTree: bytes(vectors.chunk_ids.id_tree),
  idPlain: bytes(vectors.chunk_ids.id_plain),
  cdc: bytes(vectors.chunker.cdc),
  generations: [{ g: 1, key: bytes(vectors.root_key), state: 'current' }],
};
const keys = new ObjectKeys(material);

describe('docs/vectors/format-1.json', () => {
  it('is what a writer who knows the page alone makes', () => {
    expect(vectors).toEqual(JSON.parse(JSON.stringify(formatVectors())));
  });

  it('has what Argon2id gives, at the default cost too', async () => {
    for (const { passphrase, salt, m, t, p, out } of vectors.argon2id) {
      const message = Buffer.from(passphrase.normalize('NFC'));
      const cost = { m, t, p };
      expect((await argon2id(message, bytes(salt), cost)).toString('hex')).toBe(out);
    }
    expect(vectors.argon2id.map(({ m }) => m)).toContain(262_144);
  });

  it('has what HKDF and its second half give', () => {
    for (const { ikm, salt, info, length, out } of vectors.hkdf)
      expect(hkdf(bytes(ikm), bytes(salt), info, length).toString('hex')).toBe(out);
    for (const { prk, info, length, out } of vectors.expand)
      expect(expand(bytes(prk), info, length).toString('hex')).toBe(out);
  });

  it('has recovery codes as they are written and read', () => {
    for (const { secret, code } of vectors.recovery_codes) {
      expect(formatRecoveryCode(bytes(secret))).toBe(code);
      expect(parseRecoveryCode(code).toString('hex')).toBe(secret);
    }
  });

  it('has slots that open', async () => {
    for (const { kind, secret, file, private: own, ring_auth } of vectors.slots) {
      const slot = decodeSlot(bytes(file), 'slot');
      const kindName = kind === 2 ? 'recovery' : 'machine';
      const opened = await openSlot([slot], { kind: kindName, secret: bytes(secret) }, false);
      expect(opened.private.toString('hex')).toBe(own);
      expect(opened.ringAuth.toString('hex')).toBe(ring_auth);
    }
  });

  it('has a ring that opens, with a keyring that is written the same', () => {
    const { n, slot, private: own, ring_auth, file, keyring } = vectors.ring;
    const opened = openRing(bytes(file), n, {
      slot,
      private: bytes(own),
      ringAuth: bytes(ring_auth),
      writeOnly: false,
    });
    const encoded = encodeKeyring(opened);
    expect(encoded.toString('hex', 4, 4 + encoded.readUInt32BE(0))).toBe(keyring);
    expect(encoded.length % 1_024).toBe(0);
    expect(decodeKeyring(encoded, 'keyring')).toEqual(opened);
    expect(decodeCborMap(bytes(keyring), 'keyring').fields()).toHaveLength(10);
  });

  it('has the keys and commitments of objects', () => {
    for (const { name, salt, key, commitment } of vectors.object_keys) {
      const made = keys.objectKey(name as KeyType, 1, bytes(salt), 'object');
      expect(made.key.toString('hex')).toBe(key);
      expect(made.commitment.toString('hex')).toBe(commitment);
    }
    expect(vectors.object_keys).toHaveLength(7);
  });

  it('has sealed and plain parts', () => {
    for (const part of vectors.parts) {
      const { type, cipher, salt, q, context, plaintext, sealed } = part;
      const fixed = new FixedSaltKeys(material, [bytes(salt)]);
      const seal = ObjectSeal.create(fixed, type as ObjectType, cipher as Cipher, bytes(context));
      const segment =
        part.segment === undefined
          ? undefined
          : { rawLength: part.segment.raw, compression: part.segment.compression };
      expect(seal.prefix.toString('hex')).toBe(part.header + context);
      expect(seal.seal(q, bytes(plaintext), segment).toString('hex')).toBe(sealed);
      const opener = ObjectSeal.open(keys, seal.prefix, 'object', [type as ObjectType]);
      expect(opener.open(q, bytes(sealed), 'object', segment).toString('hex')).toBe(plaintext);
    }
  });

  it('has Padmé lengths, varints and svarints', () => {
    for (const [length, padded] of vectors.padme) expect(padme(length ?? 0)).toBe(padded);
    for (const [value, encoded] of vectors.varints) {
      const out = new ByteWriter(16);
      out.varint(Number(value));
      expect(out.copy().toString('hex')).toBe(encoded);
    }
    for (const [seconds, encoded] of vectors.svarints) {
      const out = new ByteWriter(16);
      out.time(BigInt(seconds ?? 0) * 1_000_000_000n);
      expect(out.copy().toString('hex')).toBe(`${encoded}00`);
    }
  });

  it('has chunk ids of both namespaces, with salt and without', () => {
    const { chunk, ids } = vectors.chunk_ids;
    for (const { of, plain, key, id, ...rest } of ids) {
      const salt = 'salt' in rest ? bytes(rest.salt) : undefined;
      const idKey = keys.idKey(of === 'data' ? 'data' : 'tree', { plain, salt });
      expect(idKey.toString('hex')).toBe(key);
      expect(new ChunkHasher(idKey).id(bytes(chunk)).toString('hex')).toBe(id);
      expect(new ChunkHasher(idKey).matches(bytes(chunk), bytes(id))).toBe(true);
    }
    expect(new Set(ids.map(({ id }) => id)).size).toBe(8);
  });

  it('has tree chunks of every form with entries of every kind', () => {
    const { leaf, branch, list, empty_leaf: empty } = vectors.trees;
    const entries = leaf.entries.map((entry) => entryOf(entry));
    const out = new ByteWriter(1_024);
    for (const entry of entries) encodeEntry(out, entry);
    expect(encodeLeaf(entries.length, out.view()).toString('hex')).toBe(leaf.bytes);
    expect(decodeTreeChunk(bytes(leaf.bytes), 'leaf')).toEqual({ form: 'leaf', entries });
    expect(new Set(entries.map(({ type }) => type)).size).toBe(7);
    expect(encodeLeaf(0, Buffer.alloc(0)).toString('hex')).toBe(empty);
    expect(decodeTreeChunk(bytes(empty), 'leaf')).toEqual({ form: 'leaf', entries: [] });

    const children = branch.children.map(({ first, id }) => ({
      firstName: asByteString(bytes(first).toString('latin1')),
      id: bytes(id),
    }));
    expect(encodeBranch(branch.level, children).toString('hex')).toBe(branch.bytes);
    expect(decodeTreeChunk(bytes(branch.bytes), 'branch')).toEqual({ form: 'branch', level: 2, children });

    const ids = bytes(list.ids.join(''));
    expect(encodeList(ids).toString('hex')).toBe(list.bytes);
    expect(decodeTreeChunk(bytes(list.bytes), 'list')).toEqual({ form: 'list', ids });
  });

  it('has packs that are written the same where nothing is compressed', () => {
    for (const [i, pack] of vectors.packs.entries()) {
      if (pack.segments.some((segment) => segment.frame !== undefined)) continue;
      const finished: FinishedPack[] = [];
      const idKey = bytes(pack.id_key);
      const writer = new PackWriter({
        keys: new FixedSaltKeys(material, [bytes(pack.salt)]),
        kind: pack.kind === 1 ? 'data' : 'tree',
        cipher: pack.cipher,
        idKey,
        packTarget: 65_536,
        segmentTarget: 65_536,
        compression: { kind: 'none' },
        take: (capacity) => Buffer.alloc(capacity),
        emit: (one) => finished.push(one),
      });
      const hasher = new ChunkHasher(idKey);
      for (const { chunks } of pack.segments)
        for (const chunk of chunks) writer.append(hasher.id(bytes(chunk)), bytes(chunk));
      writer.finish();
      expect(finished[0]?.bytes.toString('hex'), `pack ${i}`).toBe(pack.bytes);
      expect(finished[0]?.name).toBe(pack.name);
      expect(finished[0]?.indexEntry.toString('hex')).toBe(pack.index_entry);
    }
  });

  it('has packs that are read by their directory and by the index object alike', () => {
    const raw = bytes(vectors.index.raw);
    const index = decodeIndexObject(raw, 'index');
    expect(index.supersedes).toEqual(vectors.index.supersedes);
    expect(
      encodeIndexObject(
        index.supersedes,
        vectors.packs.map((pack) => bytes(pack.index_entry)),
      ),
    ).toEqual(raw);
    for (const [i, pack] of vectors.packs.entries()) {
      const stored = bytes(pack.bytes);
      const seal = ObjectSeal.open(keys, stored, 'pack', [1, 2]);
      const { directoryOffset, directoryLength } = decodeTail(stored, stored.length, 'pack');
      const sealed = stored.subarray(directoryOffset, directoryOffset + directoryLength);
      const plaintext = seal.open(DIRECTORY_SEQUENCE, sealed, 'pack');
      expect(plaintext.toString('hex')).toBe(pack.directory);
      const directory = decodePackDirectory(plaintext, 'pack');
      const salt = bytes(pack.salt);
      const facts = { name: pack.name, cipher: pack.cipher, generation: 1, salt, sealedBy: 0 };
      const [byDirectory, byIndex] = [{ ...facts, directory }, index.packs[i]];
      expect({ ...byIndex?.directory, ids: undefined, idBytes: 24 }).toEqual({
        ...directory,
        ids: undefined,
      });
      for (const known of [byDirectory, byIndex]) {
        const [listed] = known === undefined ? [] : fillTable([known]).packs;
        if (listed === undefined) throw new Error('the pack is not in the index object');
        for (const [number, segment] of pack.segments.entries()) {
          const { offset, storedLength } = directory.segments[number] ?? { offset: 0, storedLength: 0 };
          const part = stored.subarray(offset, offset + storedLength);
          const opened = new SegmentOpener(keys).open(listed, number, part);
          expect(opened.toString('hex')).toBe(segment.chunks.join(''));
        }
      }
    }
  });

  it('has the compressed form of an index object', () => {
    const { plaintext, raw } = vectors.compressed_index;
    expect(decompressRecord(bytes(plaintext), 'index').toString('hex')).toBe(raw);
  });

  it('has a snapshot that is read and written the same', () => {
    const { name, object, plaintext } = vectors.snapshot;
    const opened = openObject(keys, 5, bytes(object), 'snapshot', name);
    expect(opened.plaintext.toString('hex')).toBe(plaintext);
    expect(encodeSnapshot(decodeSnapshot(opened.plaintext, 'snapshot')).toString('hex')).toBe(plaintext);
    const fixed = new FixedSaltKeys(material, [bytes(object).subarray(12, 44)]);
    expect(sealObject(fixed, 5, opened.context, opened.plaintext).name).toBe(name);
  });

  it('has the gear table and the cut points of its pseudo-random bytes', () => {
    const cdc = bytes(vectors.chunker.cdc);
    const table = expand(cdc, 'hf1/gear', 1_024);
    expect(vectors.chunker.gear_head).toEqual(Array.from({ length: 8 }, (_, i) => table.readUInt32BE(i * 4)));
    for (const { seed, length, min, avg, max, lengths } of vectors.chunker.cuts) {
      const found: number[] = [];
      const cutter = new Cutter(new Chunker(cdc, { min, avg, max }), (chunk) => {
        found.push(chunk.length);
        return Buffer.alloc(24);
      });
      const data = pseudoRandom(seed, length);
      for (let at = 0; at < length;) {
        const taken = data.copy(cutter.room(at), 0, at);
        cutter.filled(at, taken);
        at += taken;
      }
      cutter.finish();
      expect(found).toEqual(lengths);
    }
  });
});

/** An entry as the program has it, from the form that JSON can hold. */
function entryOf(json: Record<string, unknown>): Entry {
  const text = (field: string): string => String(json[field]);
  const number = (field: string): number => Number(json[field]);
  const metadata = {
    name: asByteString(text('name')),
    mode: number('mode'),
    uid: number('uid'),
    gid: number('gid'),
    mtimeNs: BigInt(text('mtimeNs')),
    ctimeNs: BigInt(text('ctimeNs')),
    inode: number('inode'),
    links: json['links'] as Entry['links'],
    xattrs: (json['xattrs'] as { name: string; value: string }[] | undefined)?.map(({ name, value }) => ({
      name: asByteString(name),
      value: bytes(value),
    })),
  };
  switch (json['type']) {
    case 'file':
      return {
        type: 'file',
        ...metadata,
        size: number('size'),
        holes: json['holes'] as Hole[] | undefined,
        content: bytes(text('content')),
        indirect: json['indirect'] === true,
        changedWhileRead: json['changedWhileRead'] === true,
      };
    case 'directory': {
      const totals = json['totals'] as { files: number; bytes: number; entries: number };
      return { type: 'directory', ...metadata, id: bytes(text('id')), totals };
    }
    case 'symlink':
      return { type: 'symlink', ...metadata, target: asByteString(text('target')) };
    case 'char-device':
    case 'block-device':
      return { type: json['type'], ...metadata, major: number('major'), minor: number('minor') };
    case 'fifo':
    case 'socket':
      return { type: json['type'], ...metadata };
    default:
      throw new Error(`no such type: ${text('type')}`);
  }
}

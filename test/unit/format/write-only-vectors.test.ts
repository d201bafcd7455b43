import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ObjectKeys } from '../../../src/codec/keys.ts';
import { ObjectSeal } from '../../../src/codec/seal.ts';
import { sealerKey, sealingPair, writeOnlyMark } from '../../../src/codec/write-only.ts';
import { CIPHER_GCM, OBJECT_TYPES } from '../../../src/format/header.ts';
import { openRing } from '../../../src/repository/slots/key-slots.ts';
import { openObject } from '../../../src/repository/objects/objects.ts';
import { secretOf, writeOnlyKeyText } from '../../../src/repository/slots/typed-secret.ts';
import { grantFor } from '../../../src/repository/slots/write-only-grant.ts';
import { encodeGrant } from '../../../src/format/grant.ts';
import { FixedSaltKeys } from '../../support/fixed-salts.ts';
import { exampleBytes } from '../../support/worked-example.ts';
import { writeOnlyVectors, type WriteOnlyVectors } from '../../support/write-only-vectors.ts';

const vectors: WriteOnlyVectors = JSON.parse(
  readFileSync(new URL('../../../docs/vectors/write-only.json', import.meta.url), 'utf8'),
);
const bytes = (text: string): Buffer => Buffer.from(text, 'hex');
const root = bytes(vectors.root_key);
const repository = bytes(vectors.repo);

const full = new ObjectKeys({
  repository,
  writer: Buffer.alloc(16),
  idData: exampleBytes('id data'),
  idTree: exampleBytes('id tree'),
  idPlain: exampleBytes('id plain'),
  cdc: exampleBytes('cdc'),
  generations: [{ g: 1, key: root, state: 'current' }],
});

function granted() {
  const { n, slot, slot_private, admin_public, ring } = vectors.grant;
  const own = { slot, private: bytes(slot_private), ringAuth: bytes(admin_public), writeOnly: true };
  return openRing(bytes(ring), n, own);
}

describe('docs/vectors/write-only.json', () => {
  it('is what the page says', () => {
    expect(vectors).toEqual(writeOnlyVectors());
  });

  it('has the values that keys are derived to', () => {
    const { private: own, public: shown } = sealingPair(root);
    expect({ private: own.toString('hex'), public: shown.toString('hex') }).toEqual(vectors.sealing);
    expect(sealerKey(root, vectors.number).toString('hex')).toBe(vectors.sealer);
    const { salt, writer } = writeOnlyMark(repository, vectors.number);
    expect([salt.toString('hex'), writer.toString('hex')]).toEqual([vectors.salt, vectors.writer]);
    expect(writeOnlyKeyText(bytes(vectors.key.secret))).toBe(vectors.key.text);
    expect(secretOf(`${vectors.key.text}\n`)).toEqual({
      kind: 'write-only',
      secret: bytes(vectors.key.secret),
    });
  });

  it('has a ring that gives a write-only key what is granted to it, and nothing else', () => {
    const ring = granted();
    expect(ring).toMatchObject({ grantedTo: vectors.number, admin: undefined, slots: [], minFormat: 2 });
    expect(ring.generations.map(({ key }) => key.length)).toEqual([0]);
    const whole = {
      ...ring,
      idData: exampleBytes('id data'),
      idTree: exampleBytes('id tree'),
      idPlain: exampleBytes('id plain'),
      cdc: exampleBytes('cdc'),
      generations: [{ g: 1, key: root, state: 'current' as const }],
    };
    const plaintext = encodeGrant(grantFor(whole, vectors.number));
    expect(plaintext.toString('hex', 4, 4 + plaintext.readUInt32BE(0))).toBe(vectors.grant.plaintext);
    const { n, slot, slot_private, ring: file } = vectors.grant;
    const wrong = { slot, private: bytes(slot_private), ringAuth: exampleBytes('x'), writeOnly: true };
    expect(() => openRing(bytes(file), n, wrong)).toThrow();
    expect(() => openRing(bytes(file), n, { ...wrong, writeOnly: false })).toThrow('not authentic');
  });

  it('has a head that the write-only key seals with the same bytes, and a full key opens', () => {
    const { own_private, writer, plaintext, object } = vectors.head;
    const { idData, idTree, idPlain, cdc, generations, grantedTo } = granted();
    const material = { repository, writer: bytes(writer), idData, idTree, idPlain, cdc, generations };
    const keys = new FixedSaltKeys({ ...material, writeOnly: grantedTo }, [bytes(own_private)]);
    const context = Buffer.concat([bytes(writer), Buffer.from('0000000000000001', 'hex'), Buffer.alloc(32)]);
    const seal = ObjectSeal.create(keys, OBJECT_TYPES.head, CIPHER_GCM, context);
    expect(Buffer.concat([seal.prefix, seal.seal(0, bytes(plaintext))]).toString('hex')).toBe(object);

    const opened = openObject(full, OBJECT_TYPES.head, bytes(object), 'head');
    expect(opened.plaintext.toString('hex')).toBe(plaintext);
    expect(opened.sealedBy).toBe(vectors.number);
    expect(() => openObject(keys, OBJECT_TYPES.head, bytes(object), 'head')).toThrow('cannot read');
  });

  it.each([
    ['the number', 79],
    ['wrap', 7],
    ['the generation', 11],
    ['the public key', 12],
    ['the commitment', 44],
    ['the writer', 80],
    ['the sealed part', 140],
  ])('has a head that does not open with another bit in %s', (_, at) => {
    const changed = bytes(vectors.head.object);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => openObject(full, OBJECT_TYPES.head, changed, 'head')).toThrow();
  });

  it('has no head with a public key that gives no secret', () => {
    const changed = bytes(vectors.head.object);
    changed.fill(0, 12, 44);
    expect(() => openObject(full, OBJECT_TYPES.head, changed, 'head')).toThrow('gives no secret');
  });
});

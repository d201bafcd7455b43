import { describe, expect, it } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import { decodeCborMap, encodeCbor, type CborValue } from '../../../src/format/cbor.ts';

const decode = (hex: string) => decodeCborMap(Buffer.from(hex, 'hex'), 'record');

describe('a CBOR record', () => {
  it('has its keys in the order of their encoding and its numbers in their shortest form', () => {
    const map = { bb: 1, a: 300, c: -1, '10': true, '9': null, aa: Buffer.of(1), z: [1.5, 'é'] };

    expect(encodeCbor(map).toString('hex')).toBe(
      'a76139f6616119012c616320617a82f93e0062c3a9623130f5626161410162626201',
    );
    expect(decodeCborMap(encodeCbor(map), 'record').fields().sort()).toEqual(Object.keys(map).sort());
  });

  it.each([
    ['keys out of order', 'a2616201616101'],
    ['shorter keys behind longer ones', 'a262616101616201'],
    ['a key twice', 'a2616101616102'],
    ['a number longer than need be', 'a161611801'],
    ['a length longer than need be', 'a161615801ff'],
    ['a float longer than need be', 'a16161fb3ff8000000000000'],
    ['a whole number as a float', 'a16161f93c00'],
    ['an indefinite map', 'bf616101ff'],
    ['an indefinite list', 'a161619f01ff'],
    ['an indefinite text', 'a161617f6161ff'],
    ['text that is not UTF-8', 'a1616162c328'],
    ['a tag', 'a16161c001'],
    ['undefined', 'a16161f7'],
    ['a simple value', 'a16161f0'],
    ['a key that is no text', 'a10101'],
    ['a list', '8101'],
    ['a break', 'ff'],
    ['nothing', ''],
    ['bytes after its end', 'a000'],
    ['less than it announces', 'a161619a00ffffff'],
    ['a byte string beyond its end', 'a161615affffffff'],
    ['a list of 2^64 - 1 items', 'a161619bffffffffffffffff'],
    ['a map of 2^64 - 1 entries', 'bbffffffffffffffff'],
  ])('with %s is refused', (_, hex) => {
    expect(() => decode(hex)).toThrow(RepositoryError);
  });

  it('is refused beyond a depth of 64, however deep', () => {
    const nested = (depth: number): CborValue => (depth === 0 ? 1 : [nested(depth - 1)]);

    expect(decodeCborMap(encodeCbor({ a: nested(63) }), 'record').has('a')).toBe(true);
    expect(() => decodeCborMap(encodeCbor({ a: nested(64) }), 'record')).toThrow(/too deeply/);
    for (const byte of [0x81, 0xa1, 0x9f, 0xbf, 0xc0, 0xd8]) {
      const bomb = Buffer.concat([Buffer.from('a16161', 'hex'), Buffer.alloc(1_000_000, byte)]);
      expect(() => decodeCborMap(bomb, 'record')).toThrow(RepositoryError);
    }
  });

  it('keeps names that mean something to JavaScript', () => {
    const map = Object.fromEntries([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
    const reader = decodeCborMap(encodeCbor(map), 'record');

    expect([reader.integer('__proto__'), reader.integer('constructor')]).toEqual([1, 2]);
    expect(reader.has('toString')).toBe(false);
    expect(reader.encodedWithout('constructor')).toEqual(encodeCbor(Object.fromEntries([['__proto__', 1]])));
  });

  it('gives back what a signature in one of its fields covers, fields unknown to the reader included', () => {
    const map = { v: 1, newer: { than: ['we', 1.5] }, list: [] };

    expect(decodeCborMap(encodeCbor({ ...map, signature: 'x' }), 'r').encodedWithout('signature')).toEqual(
      encodeCbor(map),
    );
    expect(decodeCborMap(encodeCbor(map), 'r').encodedWithout('signature')).toEqual(encodeCbor(map));
  });
});

describe('the fields of a record', () => {
  const reader = decodeCborMap(
    encodeCbor({
      n: 5,
      big: 2n ** 60n,
      negative: -5,
      text: 'text',
      bytes: Buffer.alloc(4),
      no: null,
      list: [1, 'a'],
    }),
    'record',
  );

  it('are refused when they are absent, of another kind, or out of range', () => {
    const wrong: (() => unknown)[] = [
      () => reader.integer('absent'),
      () => reader.integer('text'),
      () => reader.integer('big'),
      () => reader.integer('negative'),
      () => reader.integer('n', 6),
      () => reader.integer('n', 0, 4),
      () => reader.text('n'),
      () => reader.text('text', 3),
      () => reader.boolean('n'),
      () => reader.bytes('text'),
      () => reader.bytes('bytes', 3),
      () => reader.list('text', (one) => one),
      () => reader.list('list', (one) => one, 1),
      () => reader.texts('list'),
      () => reader.byteStrings('list'),
      () => reader.map('list'),
      () => reader.maps('list'),
    ];

    for (const read of wrong) expect(read).toThrow(RepositoryError);
    expect(reader.integer('negative', -5)).toBe(-5);
    expect([reader.has('no'), reader.has('absent'), reader.has('n')]).toEqual([false, false, true]);
  });
});

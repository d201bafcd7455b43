import type { KeyMaterial, ObjectKeys } from '../../../src/codec/keys.ts';
import * as real from '../../../src/repository/objects/objects.ts';
import { Answers, textOf } from './answers.ts';

export * from '../../../src/repository/objects/objects.ts';

const numbers = new WeakMap<KeyMaterial, number>();
const known = new Map<string, number>();

/** The same for the keys of one keyring that was opened twice. */
function keysNumber({ material }: ObjectKeys): number {
  const found = numbers.get(material);
  if (found !== undefined) return found;
  const text = JSON.stringify(material);
  const number = known.get(text) ?? known.size;
  known.set(text, number);
  numbers.set(material, number);
  return number;
}

function remembered(open: typeof real.openObject): typeof real.openObject {
  const opened = new Answers<real.OpenedObject>();
  return (keys, type, bytes, object, name) => {
    const question = `${type}|${object}|${name}|${keysNumber(keys)}|${textOf(bytes)}`;
    const found = opened.of(question, () => open(keys, type, bytes, object, name));
    return { ...found, context: Buffer.from(found.context), plaintext: Buffer.from(found.plaintext) };
  };
}

export const openObject = remembered(real.openObject);
export const openRecord = remembered(real.openRecord);

const decompressed = new Answers<Buffer>();

export function decompressRecord(bytes: Buffer, object: string): Buffer {
  const question = `${object}|${textOf(bytes)}`;
  return Buffer.from(decompressed.of(question, () => real.decompressRecord(bytes, object)));
}

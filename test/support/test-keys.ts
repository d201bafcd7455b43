import { createHash } from 'node:crypto';
import { ObjectKeys, type KeyMaterial } from '../../src/codec/keys.ts';

/** Secret bytes that are the same every time. */
export function secretBytes(name: string, length = 32): Buffer {
  return createHash('sha256').update(`test ${name}`).digest().subarray(0, length);
}

/** The secrets of a repository that exists in memory only. */
export function testMaterial(repository = 'repository'): KeyMaterial {
  return {
    repository: secretBytes(repository, 16),
    writer: secretBytes('writer', 16),
    idData: secretBytes('id data'),
    idTree: secretBytes('id tree'),
    idPlain: secretBytes('id plain'),
    cdc: secretBytes('cdc'),
    generations: [{ g: 1, key: secretBytes('generation 1'), state: 'current' }],
  };
}

export function testKeys(repository?: string): ObjectKeys {
  return new ObjectKeys(testMaterial(repository));
}

/** The test vectors and the worked example of docs/repository-format.md. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { treePath } from '../../src/base/tree-path.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { blake3, blake3Keyed } from '../support/independent-primitives.ts';
import { removeTree } from '../support/remove-tree.ts';
import { entriesOnDisk } from '../support/tree-manifest.ts';
import { EXAMPLE_PASSPHRASE, exampleBytesOf, workedExample } from '../support/worked-example.ts';
import { openRecoverProgram, RECOVER, type RecoverProgram } from './program.ts';

const found = await startOrSkip(openRecoverProgram);
if ('missing' in found) test.skip(`recover.py was not tested: ${found.missing}`, () => {});
else describe('recover.py and the page of the format', () => tests(found.server));

/** Around every limit of BLAKE3's blocks, chunks and trees. */
const LENGTHS = [
  0, 1, 63, 64, 65, 1_023, 1_024, 1_025, 2_048, 2_049, 3_072, 4_097, 31_744, 102_400, 2_500_000,
];

function tests(program: RecoverProgram): void {
  let home: string;

  beforeAll(() => {
    home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
  });
  afterAll(() => {
    removeTree(home);
  });

  it('agrees with every test vector', async () => {
    const key = Buffer.alloc(32, 7);
    const hashes = LENGTHS.flatMap((length) => {
      const message = Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251));
      return [
        { length, key: null, hash: blake3(message).toString('hex') },
        { length, key: key.toString('hex'), hash: blake3Keyed(key, message).toString('hex') },
      ];
    });
    const file = path.join(home, 'hashes.json');
    writeFileSync(file, JSON.stringify(hashes));
    const vectors = path.join(import.meta.dirname, '..', '..', 'docs', 'vectors', 'format-1.json');
    const script = path.join(import.meta.dirname, 'vectors.py');
    const { code, stdout, stderr } = await program.python([script, RECOVER, vectors, file]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      blake3: 2 * LENGTHS.length,
      argon2id: 3,
      hkdf: 3,
      slot: 2,
      ring: 1,
      part: 4,
      'id key': 8,
      pack: 9,
      'index object': 4,
      snapshot: 1,
      entry: 8,
    });
  });

  it('restores the worked example, when it is told to accept the cost', async () => {
    const store = path.join(home, 'example');
    for (const object of workedExample()) {
      const file = path.join(store, object.key);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, exampleBytesOf(object));
    }
    const passphrase = path.join(home, 'passphrase');
    writeFileSync(passphrase, EXAMPLE_PASSPHRASE);
    const target = path.join(home, 'target');
    const words = [store, '--secret-file', passphrase];
    const refused = await program.run([...words, 'list']);
    const { code } = await program.run([...words, '--any-cost', 'restore', 'latest', target]);

    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('asks for 64 KiB of memory');
    expect(code).toBe(0);
    expect(entriesOnDisk(treePath(target))).toMatchObject([
      { path: `${target}/d`, type: 'directory', mode: '755' },
      { path: `${target}/d/f`, type: 'file', mode: '644', size: 12, mtime: '1700000000123456789' },
      { path: `${target}/d/l`, type: 'symlink', target: 'f', mtime: '-1000000000' },
    ]);
  });
}

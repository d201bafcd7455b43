/** What a drill says of a restored file that is not what the snapshot holds. */
import { appendFileSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { ContentReader } from '../../../src/browse/cat.ts';
import type { PickedFile } from '../../../src/browse/file-sample.ts';
import { compareRestored } from '../../../src/engine/drill-compare.ts';
import type { JobProblem } from '../../../src/jobs/job.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { never, openEngine, type Engine } from '../../support/engine.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** Several chunks. */
const SIZE = 5_000_000;

let engine: Engine;
let content: ContentReader;
let picked: PickedFile;
let restored: string;

beforeEach(async () => {
  engine = await openEngine();
  writeFileSync(join(engine.source, 'letter'), seededRandom(12).bytes(SIZE));
  const { snapshot } = await engine.backup();
  const index = await loadIndex(engine.repository, { without: new Set() }, never);
  content = new ContentReader(engine.repository, index, snapshot.record);
  for (const [path, entry] of await engine.treeOf(snapshot))
    if (entry.type === 'file') picked = { path, entry };
  restored = join((await engine.restoreTo('drill', snapshot)).source, 'letter');
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function problem(): Promise<JobProblem | undefined> {
  return await compareRestored(content, picked, bytesOfText(restored), never);
}

test('nothing, when every byte is the same', async () => {
  expect(await problem()).toBeUndefined();
});

test.each([0, SIZE / 2, SIZE - 1])('that it differs, when the byte at %d is another', async (at) => {
  const bytes = readFileSync(restored);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(restored, bytes);
  expect(await problem()).toMatchObject({
    code: 'DIFFERENT',
    message: expect.stringContaining('its bytes differ'),
  });
});

test('that it differs, when it is shorter or longer', async () => {
  truncateSync(restored, SIZE - 1);
  expect(await problem()).toMatchObject({
    code: 'DIFFERENT',
    message: expect.stringContaining('4999999 bytes'),
  });
  appendFileSync(restored, 'xy');
  expect(await problem()).toMatchObject({
    code: 'DIFFERENT',
    message: expect.stringContaining('5000001 bytes'),
  });
});

test('that it is not there, when it has gone', async () => {
  rmSync(restored);
  expect(await problem()).toMatchObject({ code: 'ENOENT' });
});

test.skipIf(process.platform === 'win32')(
  'that it is not there, when a link stands in its place',
  async () => {
    rmSync(restored);
    symlinkSync(join(engine.source, 'letter'), restored);
    expect(await problem()).toBeDefined();
  },
);

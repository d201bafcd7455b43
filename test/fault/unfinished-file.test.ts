/** What a restore has begun and not ended: looked at while the last pack of a file is held back. */
import { lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { UNFINISHED_FILE } from '../../src/restorer/target/target-directory.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { seededRandom } from '../support/seeded-random.ts';

const content = seededRandom(12).bytes(4_000_000);

let engine: Engine;
let beforeGet: (key: string) => Promise<void>;

beforeEach(async () => {
  beforeGet = async () => {};
  const inner: Destination = createMemoryDestination();
  engine = await openEngine({
    destination: hookedDestination(inner, { get: async (key) => await beforeGet(key) }),
  });
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

test.each([
  ['new', undefined],
  ['to take the place of another', Buffer.alloc(content.length, 'old')],
])('a file that is %s carries the mark of unfinished ones until all of it is written', async (_, before) => {
  writeFileSync(join(engine.source, 'large'), content, { mode: 0o640 });
  const { snapshot } = await engine.backup();
  const { packs } = await loadIndex(engine.repository, { without: new Set() }, never);
  const data = new Set(packs.filter(({ kind }) => kind === 'data').map(({ name }) => packKey(name)));
  expect(data.size).toBeGreaterThan(1);

  const place = join(engine.directory, 'out', engine.source);
  mkdirSync(place, { recursive: true });
  if (before !== undefined) writeFileSync(join(place, 'large'), before, { mode: 0o640 });
  /** Of the file that is being made, under whatever name it has meanwhile: how much of it is right, and its mode. */
  const look = (): { readonly right: number; readonly mode: number } => {
    const names = readdirSync(place);
    const name = names.find((one) => one.startsWith('.')) ?? names[0];
    if (name === undefined) return { right: 0, mode: 0 };
    const bytes = readFileSync(join(place, name));
    const right = bytes.reduce((sum, byte, at) => sum + (byte === content[at] ? 1 : 0), 0);
    return { right, mode: lstatSync(join(place, name)).mode & 0o7777 };
  };
  const asked = new Set<string>();
  let seen: ReturnType<typeof look> | undefined;
  beforeGet = async (key) => {
    if (!data.has(key) || asked.has(key)) return;
    asked.add(key);
    if (asked.size < data.size) return;
    // The last pack waits for what is in the others.
    for (let tries = 0; tries < 200 && (seen?.right ?? 0) < content.length / 8; tries += 1) {
      await delay(25);
      seen = look();
    }
  };
  await engine.restoreTo('out', snapshot, { overwrite: 'always' });

  expect(seen?.right).toBeGreaterThan(content.length / 8);
  expect(seen?.right).toBeLessThan(content.length);
  expect(seen?.mode).toBe(UNFINISHED_FILE);
  expect(look()).toEqual({ right: content.length, mode: 0o640 });
  expect(readdirSync(place)).toEqual(['large']);
});

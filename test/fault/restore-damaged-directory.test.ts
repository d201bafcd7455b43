/** A directory of which a part is damaged: what is in the others comes back, and nobody is told that nothing is missing. */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString, textOfBytes } from '../../src/base/byte-path.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { loadIndex, segmentOf } from '../../src/repository/chunk-index.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
} from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { wholeRestore } from '../support/whole-restore.ts';

const never = new AbortController().signal;
/** So many entries fill several leaves, and with names so long each leaf has a segment to itself. */
const MANY = 4_000;
const nameOf = (i: number): string => `f${String(i).padStart(5, '0')}_${'x'.repeat(90)}`;

let site: string;
let out: string;
let repository: Repository;
/** A place in the stored bytes that is read as another byte. */
let damage: { readonly key: string; readonly at: number } | undefined;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-damaged-directory-'));
  out = join(site, 'out');
  mkdirSync(out);
  damage = undefined;
  const memory = createMemoryDestination();
  repository = await memoryRepository(never, {
    ...memory,
    get: async (key, range, signal) => {
      const bytes = await memory.get(key, range, signal);
      const at = key === damage?.key ? damage.at - (range?.offset ?? 0) : -1;
      if (at < 0 || at >= bytes.length) return bytes;
      const read = Buffer.from(bytes);
      read[at] = (read[at] ?? 0) ^ 1;
      return read;
    },
  });
});
afterEach(async () => {
  await repository.close();
  removeTree(site);
});

/** One directory of many files, beside another. */
async function largeDirectory(): Promise<Snapshot> {
  const entries: Record<string, HandMadeNode> = {};
  for (let i = 0; i < MANY; i += 1) entries[nameOf(i)] = file('');
  // what comes last here is stored first
  const tree = directory({ other: directory({ a: file('a') }), large: directory(entries) });
  return await handMadeSnapshot(repository, tree, {}, never);
}

/** Flips a bit in one of the segments in which the directories of the snapshot lie. */
async function damageTrees(choose: (segments: number) => number): Promise<void> {
  const { packs } = await loadIndex(repository, { without: new Set() }, never);
  const [pack] = packs.filter(({ kind }) => kind === 'tree');
  if (pack === undefined) throw new Error('no directory is stored');
  const { offset, storedLength } = segmentOf(pack, choose(pack.segments.length / 3));
  damage = { key: packKey(pack.name), at: offset + Math.floor(storedLength / 2) };
}

async function restored(
  snapshot: Snapshot,
  changes: Partial<RestoreRequest> = {},
): Promise<RestoreSummary & { readonly told: readonly string[] }> {
  const summary = await restore(
    wholeRestore(repository, snapshot, out, { restoreOwnership: false, ...changes }),
    SILENT_RESTORE,
    never,
  );
  return {
    ...summary,
    told: summary.errors.map(({ path, code, message }) => `${textOfBytes(path)} ${code} ${message}`),
  };
}

/** The names that a list of problems says are unknown. */
function unknownNames(told: readonly string[]): readonly string[] {
  const names = Array.from({ length: MANY }, (_, i) => nameOf(i));
  const ranges = told.map((text) =>
    /names at '(\w+)' and after it(?:, before '(\w+)',)? are unknown/.exec(text),
  );
  return names.filter((name) =>
    ranges.some((range) => name >= (range?.[1] ?? '') && name < (range?.[2] ?? 'g')),
  );
}

describe('a damaged part of a large directory', () => {
  test.each([
    ['at its beginning', () => 0],
    ['in its middle', (segments: number) => Math.floor(segments / 2)],
  ])('%s costs what is in it; all else comes back, and each part is told of', async (_, choose) => {
    const snapshot = await largeDirectory();
    await damageTrees(choose);
    const summary = await restored(snapshot);
    const back = new Set(readdirSync(join(out, 'large')));
    expect(back.size).toBeGreaterThan(MANY / 4);
    expect(summary).toMatchObject({ status: 'partial', directoriesUnread: 1, filesRestored: back.size + 1 });
    expect(new Set(summary.errors.map(({ path, code }) => `${path} ${code}`))).toEqual(
      new Set(['/large CORRUPT_DATA']),
    );
    const lost = Array.from({ length: MANY }, (__, i) => nameOf(i)).filter((name) => !back.has(name));
    expect(lost.length).toBeGreaterThan(0);
    expect(unknownNames(summary.told)).toEqual(lost);
    expect(readdirSync(join(out, 'other'))).toEqual(['a']);
  });

  test('costs no more when that directory is what is restored', async () => {
    const snapshot = await largeDirectory();
    await damageTrees(() => 0);
    const summary = await restored(snapshot, { subfolder: asByteString('/large') });
    const back = readdirSync(out);
    expect(back.length).toBeGreaterThan(MANY / 4);
    expect(summary).toMatchObject({ status: 'partial', directoriesUnread: 1, filesRestored: back.length });
  });

  test('may have any name, so that nothing in that directory counts as extra', async () => {
    const snapshot = await largeDirectory();
    await damageTrees(() => 0);
    for (const name of ['large', 'other']) mkdirSync(join(out, name));
    for (const name of [`large/${nameOf(3)}`, 'large/mine', 'other/extra'])
      writeFileSync(join(out, name), 'stands');
    const summary = await restored(snapshot, { overwrite: 'always', deleteExtra: true });
    expect(summary.deleted.map(textOfBytes)).toEqual(['/other/extra']);
    const standing = readdirSync(join(out, 'large'));
    expect(standing).toContain(nameOf(3));
    expect(standing).toContain('mine');
  });
});

test('a directory to be restored of which nothing can be read ends the restore', async () => {
  const snapshot = await handMadeSnapshot(repository, directory({ a: file('') }), {}, never);
  await damageTrees(() => 0);
  await expect(restored(snapshot)).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
  expect(readdirSync(out)).toEqual([]);
});

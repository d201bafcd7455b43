/** What stands in the place of something of another kind goes only for what can be had. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOfBytes } from '../../src/base/byte-path.ts';
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
  symlink,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { wholeRestore } from '../support/whole-restore.ts';

const never = new AbortController().signal;
const random = seededRandom(93);
let site: string;
let out: string;
let repository: Repository;
/** Places in the stored bytes, by the objects they are in, that are read as other bytes. */
let damaged: ReadonlyMap<string, readonly number[]>;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-in-place-of-'));
  out = join(site, 'out');
  mkdirSync(out);
  damaged = new Map();
  const memory = createMemoryDestination();
  repository = await memoryRepository(never, {
    ...memory,
    get: async (key, range, signal) => {
      const bytes = Buffer.from(await memory.get(key, range, signal));
      const places = (damaged.get(key) ?? []).map((at) => at - (range?.offset ?? 0));
      for (const at of places) if (at >= 0 && at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes;
    },
  });
});
afterEach(async () => {
  await repository.close();
  removeTree(site);
});

/** A place in each segment of the packs of a kind: what they hold is known, and none of it can be had. */
async function segments(kind: 'tree' | 'data'): Promise<ReadonlyMap<string, readonly number[]>> {
  const { packs } = await loadIndex(repository, { without: new Set() }, never);
  return new Map(
    packs
      .filter((pack) => pack.kind === kind)
      .map((pack) => {
        const all = Array.from({ length: pack.segments.length / 3 }, (_, i) => segmentOf(pack, i));
        return [
          packKey(pack.name),
          all.map(({ offset, storedLength }) => offset + Math.floor(storedLength / 2)),
        ];
      }),
  );
}

async function stored(entries: Readonly<Record<string, HandMadeNode>>): Promise<Snapshot> {
  return await handMadeSnapshot(repository, directory(entries), {}, never);
}

async function restored(snapshot: Snapshot, changes: Partial<RestoreRequest>): Promise<RestoreSummary> {
  const request = wholeRestore(repository, snapshot, out, { restoreOwnership: false, ...changes });
  return await restore(request, SILENT_RESTORE, never);
}

const problemsOf = ({ errors }: RestoreSummary): readonly string[] =>
  errors.map(({ path, code }) => `${textOfBytes(path)} ${code}`);

describe('a file in the place of a directory', () => {
  const lost = directory({ inside: file('inside') });

  test.each([
    ['always', false],
    ['if_changed', false],
    ['always', true],
  ] as const)('stays when the directory cannot be read, with %s, dry run %s', async (overwrite, dryRun) => {
    await stored({ d: lost });
    const before = await segments('tree');
    const snapshot = await stored({ d: lost, other: file('other') });
    damaged = before;
    writeFileSync(join(out, 'd'), 'stands');
    const summary = await restored(snapshot, { overwrite, dryRun });
    expect(problemsOf(summary)).toEqual(['/d CORRUPT_DATA']);
    expect(summary).toMatchObject({ directoriesUnread: 1, filesRestored: 1 });
    expect(readFileSync(join(out, 'd'), 'utf8')).toBe('stands');
  });

  test('goes for one that can be read', async () => {
    const snapshot = await stored({ d: lost, empty: directory({}) });
    for (const name of ['d', 'empty']) writeFileSync(join(out, name), 'stands');
    expect(await restored(snapshot, { overwrite: 'always' })).toMatchObject({ status: 'complete' });
    expect(readFileSync(join(out, 'd', 'inside'), 'utf8')).toBe('inside');
    expect(readdirSync(join(out, 'empty'))).toEqual([]);
  });
});

describe('a directory in the place of', () => {
  const small = file('content');
  const large = file([random.bytes(60_000), random.bytes(60_000), random.bytes(60_000)]);
  const names = { inode: 7, links: { device: 1, count: 2 } };

  function stand(...directories: readonly string[]): void {
    for (const name of directories) {
      mkdirSync(join(out, name, 'below'), { recursive: true });
      writeFileSync(join(out, name, 'below', 'kept'), 'kept');
    }
  }

  test.each([
    ['a file', { a: small }],
    ['a file of several segments', { a: large }],
    ['another name of a file', { '0': file('content', names), a: file('content', names) }],
  ])('%s stays when the content of that is damaged, though extra entries are deleted', async (_, entries) => {
    const snapshot = await stored(entries);
    damaged = await segments('data');
    stand('a');
    const summary = await restored(snapshot, { overwrite: 'always', deleteExtra: true });
    expect(problemsOf(summary).at(-1)).toMatch(/^\/a (CORRUPT_DATA|LINK_FAILED)$/);
    expect(summary).toMatchObject({ filesRestored: 0, deleted: [] });
    expect(readdirSync(out)).toEqual(['a']);
    expect(readFileSync(join(out, 'a', 'below', 'kept'), 'utf8')).toBe('kept');
  });

  test.each([false, true])('whatever can be had goes, and that is told, dry run %s', async (dryRun) => {
    const snapshot = await stored({
      small,
      large,
      link: symlink('small'),
      one: file('same', names),
      two: file('same', names),
    });
    const all = ['large', 'link', 'one', 'small', 'two'];
    stand(...all);
    const summary = await restored(snapshot, { overwrite: 'always', deleteExtra: true, dryRun });
    expect(summary).toMatchObject({ status: 'complete', filesRestored: 4, links: 1 });
    expect(summary.deleted.map(textOfBytes).sort()).toEqual(all.map((name) => `/${name}`));
    expect(readdirSync(out).sort()).toEqual(all);
    if (dryRun) return;
    expect(readFileSync(join(out, 'link'), 'utf8')).toBe('content');
    expect(statSync(join(out, 'large')).size).toBe(180_000);
    expect(statSync(join(out, 'two')).ino).toBe(statSync(join(out, 'one')).ino);
  });
});

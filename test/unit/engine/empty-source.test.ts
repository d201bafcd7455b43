import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { NARROWED_TAG } from '../../../src/base/job-tag.ts';
import { lastOfSource, refuseEmptySource } from '../../../src/engine/empty-source.ts';
import { whereItLies } from '../../../src/system/where-it-lies.ts';
import { never, openEngine } from '../../support/engine.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { commitSnapshot, type Snapshot } from '../../../src/repository/snapshots.ts';

let directory: string;
const at = (...names: readonly string[]): string => join(directory, ...names);

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-empty-')));
  mkdirSync(at('source'));
});
afterEach(() => removeTree(directory));

/** A snapshot of so many files, and so many that could not be read, as far as it is looked at. */
function earlier(files: number, failed = 0): Snapshot {
  return { record: { counts: { files, failed } } } as unknown as Snapshot;
}

function refusal(
  before: number | undefined | readonly Snapshot[],
  source = 'source',
  spared: readonly string[] = [],
): unknown {
  const snapshots = typeof before === 'number' ? [earlier(before)] : (before ?? []);
  const places = spared.map((name) => ({ path: bytesOfText(at(name)) }));
  try {
    refuseEmptySource(bytesOfText(at(source)), at(source), snapshots, places);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('a source is refused', () => {
  test('when it has no file any more, however many directories and links there are', () => {
    mkdirSync(at('source/deep/er'), { recursive: true });
    symlinkSync('/etc/hostname', at('source/deep/link'));
    expect(refusal(3)).toMatchObject({
      code: 'SOURCE_SUSPICIOUSLY_EMPTY',
      message: expect.stringContaining('is empty. It had 3 files'),
      details: { path: at('source'), files_before: 3, is_there: true },
    });
    writeFileSync(at('source/deep/er/file'), '');
    expect(refusal(3)).toBeUndefined();
  });

  test('when it has disappeared', () => {
    expect(refusal(3, 'gone')).toMatchObject({
      message: expect.stringContaining('has disappeared'),
      hint: expect.stringContaining('holdfast sources remove'),
      details: { is_there: false },
    });
    expect(refusal(3)).toMatchObject({ hint: expect.stringContaining('holdfast alarms --acknowledge') });
  });

  test('when a file stands in the place of a directory with several; what had one file may have been that', () => {
    writeFileSync(at('file'), 'x');
    expect(refusal(2, 'file')).toMatchObject({
      code: 'SOURCE_SUSPICIOUSLY_EMPTY',
      message: expect.stringContaining('is now a file instead of a directory. It had 2 files'),
      details: { is_there: true },
    });
    expect(refusal(1, 'file')).toBeUndefined();
  });

  test("when Holdfast's own places are all that is left in it", () => {
    mkdirSync(at('source/repository'));
    writeFileSync(at('source/repository/pack'), '');
    expect(refusal(3, 'source', ['source/repository'])).toMatchObject({ code: 'SOURCE_SUSPICIOUSLY_EMPTY' });
    expect(refusal(3)).toBeUndefined();
  });

  test('when the last snapshot has no file of it, since none could be read, or by rules that left all of them out', () => {
    const befores = [[earlier(0, 60)], [earlier(60), earlier(0, 60)], [earlier(50), earlier(60), earlier(0)]];
    for (const before of befores)
      expect(refusal(before)).toMatchObject({
        code: 'SOURCE_SUSPICIOUSLY_EMPTY',
        details: { files_before: 60 },
      });
  });

  test('not when there was nothing to lose, and not when it is a file', () => {
    expect(refusal(undefined)).toBeUndefined();
    expect(refusal(0)).toBeUndefined();
    expect(refusal(0, 'gone')).toBeUndefined();
    writeFileSync(at('file'), '');
    expect(refusal(1, 'file')).toBeUndefined();
  });
});

test('a path leads where it would lead if everything were there', () => {
  symlinkSync('disk/photos', at('link'));
  symlinkSync(at('source'), at('disk'));
  expect(whereItLies(at('source'))).toBe(at('source'));
  expect(whereItLies(at('link'))).toBe(at('source/photos'));
  expect(whereItLies(at('link/2026'))).toBe(at('source/photos/2026'));
  expect(whereItLies(at('no/such/place'))).toBe(at('no/such/place'));
  symlinkSync('round', at('round'));
  expect(whereItLies(at('round'))).toBe(at('round'));
});

test('the last snapshot of a source is that of the same machine and of this source alone', async () => {
  await using engine = await openEngine();
  const { snapshot } = await engine.backup();
  const other = join(engine.directory, 'other');
  mkdirSync(other);
  await engine.backup([engine.source, other]);
  await engine.backup([other]);
  await engine.backup(undefined, { host: 'elsewhere' });
  const live = await engine.snapshots();
  expect(lastOfSource(live, 'host', [treePath(engine.source)])?.id).toBe(snapshot.id);
  expect(lastOfSource(live, 'host', [treePath(engine.directory)])).toBeUndefined();
  // Neither the one of a request with rules of its own, nor one that could read nothing, shows how it was.
  await engine.backup(undefined, { tags: [NARROWED_TAG] });
  const unread = {
    ...snapshot.record,
    status: 'partial' as const,
    counts: { ...snapshot.record.counts, files: 0 },
  };
  await commitSnapshot(engine.repository, unread, { live: 5 }, never);
  const streamed = { ...snapshot.record, kind: 'stream' as const };
  await commitSnapshot(engine.repository, streamed, { live: 5 }, never);
  expect(lastOfSource(await engine.snapshots(), 'host', [treePath(engine.source)])?.id).toBe(snapshot.id);
});

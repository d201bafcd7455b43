/** Repositories that released versions have made: whatever comes later opens, lists and restores them. */
// Turn 6 of 8.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinBytes, asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { fileContent } from '../../src/browse/cat.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import type { Entry } from '../../src/format/tree.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { loadIndex, type ChunkIndex } from '../../src/repository/chunk-index.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { collect } from '../support/collect.ts';
import { readRepository, type StrangerEntry } from '../support/independent-reader.ts';
import { FIXTURES, fixtureFacts, unpackFixture } from '../support/fixture-repositories.ts';
import { removeTree } from '../support/remove-tree.ts';
import { entriesOnDisk, manifestOf, sha256, type ManifestEntry } from '../support/tree-manifest.ts';
import { wholeRestore } from '../support/whole-restore.ts';
import { restoredPath } from '../support/restored-path.ts';

const { signal } = new AbortController();
function entryFacts(file: ByteString, entry: Entry, content: Buffer | undefined): ManifestEntry {
  const { type, mode, uid, gid, mtimeNs, links, xattrs } = entry;
  return {
    path: file,
    type,
    mode: mode.toString(8),
    uid,
    gid,
    mtime: String(mtimeNs),
    ...(content === undefined ? {} : { size: content.length, sha256: sha256(content) }),
    ...(entry.type === 'symlink' ? { target: entry.target } : {}),
    ...('major' in entry ? { device: [entry.major, entry.minor] as const } : {}),
    ...(xattrs === undefined
      ? {}
      : { xattrs: Object.fromEntries(xattrs.map(({ name, value }) => [name, value.toString('hex')])) }),
    ...(links === undefined ? {} : { links: links.count }),
  };
}

async function entriesBelow(
  repository: Repository,
  index: ChunkIndex,
  snapshot: Snapshot,
  source: string,
): Promise<ManifestEntry[]> {
  const { plain, salt, root } = snapshot.record;
  const reader = new TreeReader(repository, index, { plain, salt });
  const found: ManifestEntry[] = [];
  const visit = async (id: Buffer, above: ByteString): Promise<void> => {
    for (const entry of await reader.directory(id, signal)) {
      const file = joinBytes(above, entry.name);
      const read = async (): Promise<Buffer | undefined> =>
        entry.type === 'file'
          ? Buffer.concat(await collect(fileContent(repository, index, snapshot, entry, undefined, signal)))
          : undefined;
      if (file.startsWith(`${source}/`)) found.push(entryFacts(file, entry, await read()));
      if (entry.type === 'directory') await visit(entry.id, file);
    }
  };
  await visit(root, asByteString('/'));
  return found;
}

const STRANGER_TYPES = [
  '',
  'file',
  'directory',
  'symlink',
  'fifo',
  'socket',
  'char-device',
  'block-device',
] as const;

function strangerFacts({ path: file, entry, content }: StrangerEntry): ManifestEntry {
  const { mode, uid, gid, mtimeNs, major, minor, links, target, xattrs } = entry;
  return {
    path: file,
    type: STRANGER_TYPES[entry.type] as ManifestEntry['type'],
    mode: mode.toString(8),
    uid,
    gid,
    mtime: String(mtimeNs),
    ...(content === undefined ? {} : { size: content.length, sha256: sha256(content) }),
    ...(target === undefined ? {} : { target: target.toString('latin1') }),
    ...(entry.type < 6 ? {} : { device: [major, minor] as const }),
    ...(xattrs.length === 0
      ? {}
      : {
          xattrs: Object.fromEntries(
            xattrs.map((one) => [one.name.toString('latin1'), one.value.toString('hex')]),
          ),
        }),
    ...(links === undefined ? {} : { links: Number(links) }),
  };
}

/** What anybody, root or not, gets back the same on any file system. */
function common(entries: readonly ManifestEntry[]): Partial<ManifestEntry>[] {
  return entries.flatMap<Partial<ManifestEntry>>(
    ({ path: file, type, size, sha256: hash, target, mtime }) => {
      if (type === 'symlink') return [{ path: file, type, target: target ?? '' }];
      if (type === 'directory') return [{ path: file, type }];
      if (type !== 'file') return [];
      // Not every file system keeps the years before 1970 and after 2446.
      const usual = Number(mtime) >= 0 && Number(mtime) < 1e19;
      return [{ path: file, type, size: size ?? 0, sha256: hash ?? '', ...(usual ? { mtime } : {}) }];
    },
  );
}

const EVERYWHERE: readonly string[] =
  'file directory symlink leaf hole encrypted salted complete files config heads index keys packs snapshots trash'.split(
    ' ',
  );
const EVERY_TYPE: readonly string[] = 'fifo socket char-device block-device xattr plain'.split(' ');

const FEATURES: Readonly<Record<(typeof FIXTURES)[number], readonly string[]>> = {
  'format-1': [
    ...EVERYWHERE,
    ...EVERY_TYPE,
    '2 writers',
    'branch',
    'list',
    'stream',
    'several names',
    'generation 1',
    'generation 2',
    'dead snapshots',
  ],
  'format-1-more': [
    ...EVERYWHERE,
    ...EVERY_TYPE,
    '2 writers',
    'leases',
    'partial',
    'changed',
    'generation 2',
    'generation 3',
    'dead snapshots',
    'dead packs',
    'symlink of several names',
    'fifo of several names',
  ],
  'format-2': [
    ...EVERYWHERE,
    '4 writers',
    'copies',
    'several names',
    'packs of write-only key 1',
    'packs of write-only key 2',
    'generation 1',
    'generation 3',
    'dead snapshots',
  ],
};

/** What an entry has that a fixture may be kept for. */
function kept(entry: Entry): string[] {
  const several = entry.links === undefined ? [] : ['several names', `${entry.type} of several names`];
  const features = [entry.type, ...several, ...(entry.xattrs === undefined ? [] : ['xattr'])];
  if (entry.type !== 'file') return features;
  if (entry.indirect) features.push('list');
  if (entry.holes !== undefined) features.push('hole');
  if (entry.changedWhileRead) features.push('changed');
  return features;
}

describe.each(FIXTURES)('the repository %s', (name) => {
  const facts = fixtureFacts(name);
  let home: string;
  let store: string;
  let destination: Destination;
  let repository: Repository;
  let index: ChunkIndex;
  let live: readonly Snapshot[];

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'holdfast-fixture-'));
    store = path.join(home, 'store');
    unpackFixture(name, store);
    destination = await openLocalDestination(store);
    const secret = { kind: 'passphrase', text: facts.passphrase } as const;
    const options = { clock: systemClock, stateDirectory: undefined };
    repository = await openRepository(destination, secret, options, signal);
    index = await loadIndex(repository, { without: new Set() }, signal);
    ({ live } = await listSnapshots(repository, signal));
  });

  afterAll(async () => {
    await repository?.close();
    if (home !== undefined) removeTree(home);
  });

  it('shows the snapshots that it had, and not those that were forgotten', async () => {
    const wanted = Object.values(facts.snapshots).map(({ id }) => id);
    const { damaged, forgotten } = await listSnapshots(repository, signal);

    expect(live.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted());
    expect(damaged).toEqual([]);
    expect([...forgotten].sort()).toEqual([...facts.forgotten].sort());
    expect(repository.id).toBe(facts.repository);
  });

  it('has what it is kept for', async () => {
    const seen = new Set<string>();
    for (const { record } of live) {
      const reader = new TreeReader(repository, index, { plain: record.plain, salt: record.salt });
      const visit = async (id: Buffer): Promise<void> => {
        seen.add((await reader.chunk(id, signal)).form);
        for (const entry of await reader.directory(id, signal)) for (const one of kept(entry)) seen.add(one);
        for (const entry of await reader.directory(id, signal))
          if (entry.type === 'directory') await visit(entry.id);
      };
      await visit(record.root);
      for (const one of [record.kind, record.status, record.plain ? 'plain' : 'encrypted']) seen.add(one);
      if (record.salt !== undefined) seen.add('salted');
    }
    for (const { generation, sealedBy } of index.packs) {
      seen.add(`generation ${generation}`);
      if (sealedBy !== 0) seen.add(`packs of write-only key ${sealedBy}`);
    }
    seen.add(`${new Set(live.map(({ chain }) => chain.writer)).size} writers`);
    for await (const page of destination.list('', signal))
      for (const { key } of page) seen.add(key.split('/')[0] ?? '');
    for (const { record } of (await readTombstones(repository, signal)).all) seen.add(`dead ${record.kind}`);
    const lacking = FEATURES[name].filter((feature) => !seen.has(feature));

    expect(lacking).toEqual([]);
  });

  it('is sound', async () => {
    const report = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);

    expect(report.findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
    // Format 1 was made before there were second copies.
    if (name === 'format-2') expect(report.findings).toEqual([]);
    for (const { what } of report.findings) expect(what).toContain('it has no second copy');
  });

  it.each(Object.entries(facts.snapshots))(
    'lists and reads everything of the snapshot «%s»',
    async (_, wanted) => {
      const snapshot = live.find(({ id }) => id === wanted.id);
      if (snapshot === undefined) throw new Error('the snapshot is not there');
      const { entries, crowds } = manifestOf(await entriesBelow(repository, index, snapshot, wanted.source));

      expect(entries).toEqual(wanted.entries);
      expect(crowds).toEqual(wanted.crowds);
    },
  );

  it.each(Object.entries(facts.snapshots))('restores the snapshot «%s»', async (kind, wanted) => {
    const snapshot = live.find(({ id }) => id === wanted.id);
    if (snapshot === undefined) throw new Error('the snapshot is not there');
    const target = path.join(home, kind);
    const summary = await restore(
      wholeRestore(repository, snapshot, target, { index, overwrite: 'always' }),
      SILENT_RESTORE,
      signal,
    );
    const below = treePath(restoredPath(target, wanted.source));
    const restored = entriesOnDisk(below).map((entry) => ({
      ...entry,
      path: wanted.source + entry.path.slice(below.length),
    }));

    expect(summary.errors).toEqual([]);
    expect(common(manifestOf(restored).entries)).toEqual(common(wanted.entries));
  });

  it('is read by the reader that knows the page alone', () => {
    const found = [...readRepository(store, { recoveryCode: facts.recovery_code })];

    for (const { id, source, entries, crowds } of Object.values(facts.snapshots)) {
      const below = found.filter((one) => one.snapshot === id && one.path.startsWith(`${source}/`));
      expect(manifestOf(below.map((one) => strangerFacts(one)))).toEqual({ entries, crowds });
    }
  });
});

/** Repositories that released versions have made: whatever comes later opens, lists and restores them. */

import { mkdtempSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOfText, joinBytes, asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { fileContent } from '../../src/browse/cat.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local.ts';
import type { Entry } from '../../src/format/tree.ts';
import { check } from '../../src/repository/check.ts';
import { SILENT_CHECK } from '../../src/repository/check-report.ts';
import { loadIndex, type ChunkIndex } from '../../src/repository/chunk-index.ts';
import { openRepository, type Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { TreeReader } from '../../src/repository/tree-reader.ts';
import { SILENT_RESTORE } from '../../src/restorer/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { collect } from '../support/collect.ts';
import { readRepository, type StrangerEntry } from '../support/independent-reader.ts';
import type { FixtureFacts } from '../support/make-format-fixture.ts';
import { removeTree } from '../support/remove-tree.ts';
import { entriesOnDisk, manifestOf, sha256, type ManifestEntry } from '../support/tree-manifest.ts';

const { signal } = new AbortController();
const FIXTURE = new URL('../fixtures/repositories/format-1', import.meta.url);
const facts: FixtureFacts = JSON.parse(readFileSync(`${FIXTURE.pathname}.json`, 'utf8'));

let home: string;
let store: string;
let destination: Destination;
let repository: Repository;
let index: ChunkIndex;
let live: readonly Snapshot[];

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'holdfast-fixture-'));
  store = path.join(home, 'store');
  for (const [name, content] of tarFiles(readFileSync(`${FIXTURE.pathname}.tar`))) {
    mkdirSync(path.dirname(path.join(store, name)), { recursive: true });
    writeFileSync(path.join(store, name), content);
  }
  destination = await openLocalDestination(store);
  const secret = { kind: 'passphrase', text: facts.passphrase } as const;
  repository = await openRepository(
    destination,
    secret,
    { clock: systemClock, stateDirectory: undefined },
    signal,
  );
  index = await loadIndex(repository, { without: new Set() }, signal);
  ({ live } = await listSnapshots(repository, signal));
});

afterAll(async () => {
  await repository?.close();
  if (home !== undefined) removeTree(home);
});

/** The files of a tar with short names: 512 bytes of header, the content, padded to 512. */
function tarFiles(tar: Buffer): [name: string, content: Buffer][] {
  const files: [string, Buffer][] = [];
  for (let at = 0; tar[at] !== 0 && at < tar.length;) {
    const text = (from: number, to: number): string =>
      tar.toString('latin1', at + from, at + to).split('\0')[0] ?? '';
    const size = Number.parseInt(text(124, 136), 8);
    files.push([text(0, 100), tar.subarray(at + 512, at + 512 + size)]);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

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

async function entriesBelow(snapshot: Snapshot, source: string): Promise<ManifestEntry[]> {
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

describe('the repository of format 1', () => {
  it('shows the snapshots that it had, and not those that were forgotten', async () => {
    const wanted = Object.values(facts.snapshots).map(({ id }) => id);
    const { damaged, forgotten } = await listSnapshots(repository, signal);

    expect(live.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted());
    expect(damaged).toEqual([]);
    expect([...forgotten].sort()).toEqual([...facts.forgotten].sort());
    expect(repository.id).toBe(facts.repository);
  });

  it('has a split directory, content in lists, holes, every kind of entry and two generations of keys', async () => {
    const rewritten = live.find(({ id }) => id === facts.snapshots['rewritten']?.id);
    if (rewritten === undefined) throw new Error('the snapshot is not there');
    const reader = new TreeReader(repository, index, { plain: false });
    const seen = new Set<string>();
    const visit = async (id: Buffer): Promise<void> => {
      seen.add((await reader.chunk(id, signal)).form);
      for (const entry of await reader.directory(id, signal)) {
        seen.add(entry.type);
        if (entry.type === 'directory') await visit(entry.id);
        if (entry.type !== 'file') continue;
        if (entry.indirect) seen.add('list');
        if (entry.holes !== undefined) seen.add('hole');
      }
    };
    await visit(rewritten.record.root);
    const kinds = ['file', 'directory', 'symlink', 'fifo', 'socket', 'char-device', 'block-device'];

    expect([...seen].sort()).toEqual(['branch', 'leaf', 'list', 'hole', ...kinds].sort());
    expect(new Set(index.packs.map(({ generation }) => generation))).toEqual(new Set([1, 2]));
    expect(new Set(index.packs.map(({ cipher }) => cipher))).toEqual(new Set([0, 1]));
  });

  it('is sound', async () => {
    const report = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);

    expect(report.findings).toEqual([]);
  });

  it.each(Object.entries(facts.snapshots))(
    'lists and reads everything of the snapshot «%s»',
    async (_, wanted) => {
      const snapshot = live.find(({ id }) => id === wanted.id);
      if (snapshot === undefined) throw new Error('the snapshot is not there');
      const { entries, crowds } = manifestOf(await entriesBelow(snapshot, wanted.source));

      expect(entries).toEqual(wanted.entries);
      expect(crowds).toEqual(wanted.crowds);
    },
  );

  it.each(Object.entries(facts.snapshots))('restores the snapshot «%s»', async (name, wanted) => {
    const snapshot = live.find(({ id }) => id === wanted.id);
    if (snapshot === undefined) throw new Error('the snapshot is not there');
    const target = path.join(home, name);
    const summary = await restore(
      {
        repository,
        index,
        snapshot,
        target: { kind: 'directory', path: target },
        paths: [],
        include: [],
        exclude: [],
        overwrite: 'always',
        deleteExtra: false,
        dryRun: false,
        verify: true,
        restoreOwnership: process.getuid?.() === 0,
        ownersByName: false,
        workers: 1,
      },
      SILENT_RESTORE,
      signal,
    );
    const below = bytesOfText(path.join(target, wanted.source));
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

// Turn 8 of 8.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer as bufferOf, text as textOf } from 'node:stream/consumers';
import { extract, type Header } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../../src/archiver/report/observer.ts';
import { archive } from '../../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../../src/exclude/excluder.ts';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { encodeTarHeader, type TarMember } from '../../../src/browse/tar-header.ts';
import { writeTar, type TarOptions } from '../../../src/browse/tar.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import { compareTrees, shownDifference } from '../../support/compare-trees.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';
import { recordingDestination } from '../../support/recording-destination.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { makeTortureTree, type TortureSection } from '../../support/torture-tree.ts';

const { signal } = new AbortController();
const gnuTar = /GNU tar/.test(spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout ?? '');

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-tar-'));
});
afterAll(() => {
  removeTree(scratch);
});

const skipped: string[] = [];
const full: TarOptions = {
  path: asByteString('/'),
  names: 'full',
  onSkipped: (path, reason) => skipped.push(`${path}: ${reason}`),
};

async function tarOf(repository: Repository, snapshot: Snapshot, options: Partial<TarOptions> = {}) {
  const out = new PassThrough();
  const bytes = bufferOf(out);
  const index = await loadIndex(repository, { without: new Set() }, signal);
  const summary = await writeTar(repository, index, snapshot, { ...full, ...options }, out, signal);
  out.end();
  return { summary, bytes: await bytes };
}

async function handMadeTar(
  root: HandMadeDirectory,
  options: Partial<TarOptions> = {},
  record: Partial<SnapshotRecord> = {},
) {
  const repository = await memoryRepository(signal);
  return await tarOf(repository, await handMadeSnapshot(repository, root, record, signal), options);
}

/** As an independent reader sees it. */
async function membersOf(bytes: Buffer): Promise<{ header: Header; content: string }[]> {
  const members: { header: Header; content: string }[] = [];
  const reader = extract();
  reader.end(bytes);
  for await (const entry of reader) members.push({ header: entry.header, content: await textOf(entry) });
  return members;
}

describe('writeTar', () => {
  it('leaves out extended attributes that would stop other programs, names the entry and goes on', async () => {
    skipped.length = 0;
    const xattrs = Array.from({ length: 40 }, (_, i) => ({
      name: asByteString(`user.a${String(i).padStart(2, '0')}`),
      value: Buffer.alloc(60_000, 1),
    }));
    const { summary, bytes } = await handMadeTar(
      directory({ after: file('after'), big: file('big', { xattrs }) }),
    );
    expect(summary).toMatchObject({ entries: 2, skipped: 0, incomplete: 1 });
    expect(skipped).toEqual([expect.stringMatching(/^\/big: 23 of its 40 extended attributes/)]);
    const [, big] = await membersOf(bytes);
    expect(big?.content).toBe('big');
    expect(Object.keys(big?.header.pax ?? {}).filter((one) => one.startsWith('SCHILY.xattr.'))).toHaveLength(
      17,
    );
    const length = bytes.length - 2 * 1024 - 4 * 512;
    expect(length).toBeLessThanOrEqual(1024 * 1024);
  });

  it('names members by their whole path, or from the subtree on', async () => {
    const root = directory({ home: directory({ u: directory({ f: file('content') }) }), etc: directory({}) });
    const names = async (options: Partial<TarOptions>): Promise<string[]> =>
      (await membersOf((await handMadeTar(root, options)).bytes)).map(({ header }) => header.name);

    expect(await names({})).toEqual(['etc/', 'home/', 'home/u/', 'home/u/f']);
    expect(await names({ path: asByteString('/home/u') })).toEqual(['home/u/', 'home/u/f']);
    expect(await names({ path: asByteString('/home/u'), names: 'short' })).toEqual(['u/', 'u/f']);
    expect(await names({ path: asByteString('/home/u/f'), names: 'short' })).toEqual(['f']);
  });

  it('stores the later names of an inode as links to the first', async () => {
    const links = { device: 1, count: 3 };
    const other = { device: 2, count: 2 };
    const node = (device: typeof links) => file('content', { inode: 7, links: device });
    const root = directory({
      a: node(links),
      b: directory({ c: node(links), x: node(other) }),
      d: node(links),
      e: node(other),
    });

    const { bytes, summary } = await handMadeTar(root);

    expect(
      (await membersOf(bytes)).map(({ header, content }) => [
        header.name,
        header.type,
        header.linkname,
        content,
      ]),
    ).toEqual([
      ['a', 'file', null, 'content'],
      ['b/', 'directory', null, ''],
      ['b/c', 'link', 'a', ''],
      ['b/x', 'file', null, 'content'],
      ['d', 'link', 'a', ''],
      ['e', 'link', 'b/x', ''],
    ]);
    expect(summary).toEqual({ entries: 6, files: 2, bytes: 14, skipped: 0, incomplete: 0 });
  });

  it('links no names that hold something else, whatever their inode says', async () => {
    const same = { inode: 7, links: { device: 1, count: 2 } };
    const hole = (offset: number) => ({ ...same, inode: 9, size: 8, holes: [{ offset, length: 4 }] });
    const root = directory({
      a: file('before', same),
      b: file('after', same),
      c: file('after', same),
      d: symlink('one', { ...same, inode: 8 }),
      e: symlink('two', { ...same, inode: 8 }),
      f: file('data', hole(0)),
      g: file('data', hole(4)),
      h: symlink('one', same),
    });

    const { bytes } = await handMadeTar(root);

    const members = await membersOf(bytes);
    expect(
      members.map(({ header: { name, type, linkname }, content }) => [name, type, linkname, content]),
    ).toEqual([
      ['a', 'file', null, 'before'],
      ['b', 'file', null, 'after'],
      ['c', 'link', 'b', ''],
      ['d', 'symlink', 'one', ''],
      ['e', 'symlink', 'two', ''],
      ['f', 'file', null, '\0\0\0\0data'],
      ['g', 'file', null, 'data\0\0\0\0'],
      ['h', 'symlink', 'one', ''],
    ]);
  });

  it('writes the names of owners as the snapshot has them', async () => {
    const owners = { users: { '1000': 'someone', '2000000000': 'ünal' }, groups: { '1000': 'people' } };
    const root = directory({ a: file('x'), b: file('y', { uid: 2_000_000_000, gid: 0 }) });

    const [a, b] = await membersOf((await handMadeTar(root, {}, { owners })).bytes);

    expect(a?.header).toMatchObject({ uname: 'someone', gname: 'people', uid: 1000, gid: 1000 });
    expect(b?.header).toMatchObject({ gname: '', gid: 0, pax: { uid: '2000000000', uname: 'ünal' } });
  });

  it('tells of sockets, which have no place in an archive, and goes on', async () => {
    skipped.length = 0;

    const { bytes, summary } = await handMadeTar(directory({ a: { type: 'socket' }, b: { type: 'fifo' } }));

    expect(skipped).toEqual(['/a: a socket cannot be stored in a tar archive']);
    expect(summary).toMatchObject({ entries: 1, skipped: 1 });
    expect((await membersOf(bytes)).map(({ header }) => [header.name, header.type])).toEqual([['b', 'fifo']]);
  });

  it('writes holes as zeros', async () => {
    const root = directory({
      f: file([Buffer.from('ab')], {
        holes: [
          { offset: 1, length: 100_000 },
          { offset: 100_002, length: 511 },
        ],
      }),
      g: file('after'),
    });

    const [f, g] = await membersOf((await handMadeTar(root)).bytes);

    expect(f?.content).toBe(`a${'\0'.repeat(100_000)}b${'\0'.repeat(511)}`);
    expect(g?.content).toBe('after');
  });

  it('ends with the error of a damaged file and leaves the archive without its end', async () => {
    const repository = await memoryRepository(signal);
    const root = directory({ a: file('fine'), b: file('short', { size: 9 }) });
    const snapshot = await handMadeSnapshot(repository, root, {}, signal);
    const index = await loadIndex(repository, { without: new Set() }, signal);
    const written: Buffer[] = [];
    const out = new Writable({
      write: (chunk: Buffer, _, done) => {
        written.push(chunk);
        done();
      },
    });

    await expect(writeTar(repository, index, snapshot, full, out, signal)).rejects.toMatchObject({
      code: 'CORRUPT_DATA',
    });

    expect(Buffer.concat(written).subarray(-1024).equals(Buffer.alloc(1024))).toBe(false);
  });

  it('fetches every segment once, however many files lie in it', async () => {
    const destination = recordingDestination(createMemoryDestination());
    const repository = await memoryRepository(signal, destination);
    const random = seededRandom(7);
    const names = Array.from({ length: 400 }, (_, i) => `f${i}`);
    const files = Object.fromEntries(names.map((name) => [name, file([random.bytes(2_000)])]));
    const snapshot = await handMadeSnapshot(
      repository,
      directory({ a: directory(files), b: directory(files) }),
      {},
      signal,
    );
    destination.reset();

    const { bytes } = await tarOf(repository, snapshot);

    expect(bytes.length).toBeGreaterThan(2 * 400 * 2_000);
    const ranges = destination.calls.map(({ key, range }) => `${key} ${range?.offset} ${range?.length}`);
    const segments = ranges.filter((range) => range.startsWith('packs/'));
    expect(segments.length).toBeGreaterThan(12);
    expect(new Set(segments).size).toBe(segments.length);
  });

  it('stops with the reason of an aborted signal', async () => {
    const repository = await memoryRepository(signal);
    const snapshot = await handMadeSnapshot(repository, directory({ a: file('x') }), {}, signal);
    const index = await loadIndex(repository, { without: new Set() }, signal);
    const reason = new Error('the system goes down');
    const abort = new AbortController();
    const out = new Writable({
      write: () => {
        abort.abort(reason);
      },
    });

    await expect(writeTar(repository, index, snapshot, full, out, abort.signal)).rejects.toBe(reason);
  });

  it('rejects when the output fails', async () => {
    const repository = await memoryRepository(signal);
    const snapshot = await handMadeSnapshot(repository, directory({ a: file('x') }), {}, signal);
    const index = await loadIndex(repository, { without: new Set() }, signal);
    const out = new Writable({
      write: (_chunk, _encoding, done) => {
        done(new Error('the disk is full'));
      },
    });

    await expect(writeTar(repository, index, snapshot, full, out, signal)).rejects.toThrow(
      'the disk is full',
    );
  });
});

const isRoot = process.getuid?.() === 0;

describe.skipIf(!gnuTar)('GNU tar', () => {
  /** Extracts with everything GNU tar can set. */
  function extractInto(name: string, bytes: Buffer): string {
    const target = join(scratch, name);
    mkdirSync(target);
    writeFileSync(join(scratch, `${name}.tar`), bytes);
    const restored = ['--xattrs', '--xattrs-include=*', '--acls', '--same-permissions', '--numeric-owner'];
    const { stderr, status } = spawnSync(
      'tar',
      ['-xf', join(scratch, `${name}.tar`), '-C', target, ...restored],
      {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C' },
      },
    );
    const complaints = stderr.split('\n').filter((line) => line !== '' && !/time stamp/.test(line));
    expect(complaints).toEqual([]);
    expect(status).toBe(0);
    return target;
  }

  it('restores every kind of entry, name, right, attribute and time exactly', async () => {
    const source = join(scratch, 'torture');
    // Only root can read what has no rights, make what belongs to others, and give attributes to what may not be written.
    const forRoot: TortureSection[] = isRoot ? [] : ['modes', 'owners', 'special', 'xattrs'];
    await makeTortureTree(source, { without: ['beyond-path-max', 'many', 'sparse', ...forRoot] });
    const repository = await memoryRepository(signal);
    const { snapshot } = await archive(
      {
        repository,
        sources: [treePath(source)],
        host: 'host',
        user: 'user',
        tool: 'test',
        tags: [],
        pinned: false,
        compression: { kind: 'zstd', level: 1 },
        plain: false,
        isolated: false,
        exclude: NO_EXCLUSIONS,
        parent: 'none',
        workers: 1,
      },
      SILENT,
      signal,
    );

    const { bytes, summary } = await tarOf(repository, snapshot, {
      path: treePath(source),
      names: 'short',
    });
    const target = extractInto('torture-out', bytes);

    const differences = compareTrees(source, join(target, 'torture'), { holes: false });
    expect(differences.map(shownDifference).filter((line) => !line.includes('special/socket'))).toEqual([]);
    expect(summary.entries).toBeGreaterThan(150);
  });

  it('restores names and link targets of any bytes and length', async () => {
    const parts = {
      latin: 'caf\xe9',
      longLatin: '\xe9'.repeat(250),
      longUtf8: bytesOfText('ü'.repeat(120)),
      hundred: 'h'.repeat(100),
      newline: 'two\nlines',
    };
    const names = Object.values(parts);
    const files = Object.fromEntries(names.map((name) => [name, file(name)]));
    const inner = directory({
      ...files,
      link: symlink('\xff/'.repeat(90)),
      long: symlink(bytesOfText('ä/'.repeat(90))),
    });
    const root = directory({
      [parts.longLatin]: directory({ [parts.longUtf8]: inner }),
      ['d'.repeat(99)]: inner,
    });

    const target = extractInto('names', (await handMadeTar(root)).bytes);

    const deep = Buffer.from(`${target}/${parts.longLatin}/${parts.longUtf8}`, 'latin1');
    for (const place of [deep, Buffer.from(`${target}/${'d'.repeat(99)}`)]) {
      const inside = (name: string): Buffer => Buffer.concat([place, Buffer.from(`/${name}`, 'latin1')]);
      const found = readdirSync(place, 'buffer').map((name) => name.toString('latin1'));
      expect(found.sort()).toEqual([...names, 'link', 'long'].sort());
      for (const name of names) expect(readFileSync(inside(name), 'latin1')).toBe(name);
      expect(readlinkSync(inside('link'), 'buffer').toString('latin1')).toBe('\xff/'.repeat(90));
      expect(readlinkSync(inside('long'), 'utf8')).toBe('ä/'.repeat(90));
    }
  });

  // What is extracted belongs to whoever does it, and that is a difference.
  it.runIf(isRoot)('finds no difference between the archive and what it restored', async () => {
    const root = directory({
      d: directory({ f: file('content', { mtimeNs: 1_600_000_000_123_456_789n }) }),
      l: symlink('d/f'),
    });
    const { bytes } = await handMadeTar(root);

    const target = extractInto('compared', bytes);

    execFileSync('tar', ['-df', join(scratch, 'compared.tar'), '-C', target], { stdio: 'pipe' });
    writeFileSync(join(target, 'd/f'), 'CONTENT');
    expect(() =>
      execFileSync('tar', ['-df', join(scratch, 'compared.tar'), '-C', target], { stdio: 'pipe' }),
    ).toThrow();
  });

  const large: TarMember = {
    type: 'file',
    path: asByteString('large'),
    mode: 0o640,
    uid: 3_000_000_000,
    gid: 4_000_000_000,
    size: 12_345_678_901_234,
    mtimeNs: HAND_MADE_NS,
  };

  it.each<[string, Partial<TarMember>, string]>([
    [
      'sizes beyond 8 GiB and large owners',
      {},
      '-rw-r----- 3000000000/4000000000 12345678901234 2023-11-14 22:13:20 large',
    ],
    [
      'large device numbers',
      { type: 'char-device', size: 0, major: 5_000_000, minor: 1 },
      'crw-r----- 3000000000/4000000000 5000000,1 2023-11-14 22:13:20 large',
    ],
    [
      'times before 1970',
      { mtimeNs: -3_000_000_000n },
      '-rw-r----- 3000000000/4000000000 12345678901234 1969-12-31 23:59:57 large',
    ],
  ])('reads %s', (_, changes, line) => {
    const { stdout } = spawnSync('tar', ['-tvf', '-', '--numeric-owner', '--full-time', '--utc'], {
      input: encodeTarHeader({ ...large, ...changes }),
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    });

    expect(stdout.trim().replaceAll(/ +/g, ' ')).toBe(line);
  });
});

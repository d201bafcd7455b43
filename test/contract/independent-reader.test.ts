// Turn 4 of 8.
import { randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { bytesOfText, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { formatRecoveryCode } from '../../src/codec/recovery-code.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { splitDeviceNumber } from '../../src/system/device-number.ts';
import { readXattrs } from '../../src/system/xattr.ts';
import type { StrangerSecret } from '../support/independent-keys.ts';
import { readRepository, type StrangerEntry, type StrangerOptions } from '../support/independent-reader.ts';
import { removeTree } from '../support/remove-tree.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeTortureTree } from '../support/torture-tree.ts';

const { signal } = new AbortController();
const PASSPHRASE = 'Größe, written with \u0308 or in one';
const recovery = randomBytes(32);

let home: string;
let source: ByteString;
let repository: Repository;
const snapshots: Record<'first' | 'plain' | 'isolated' | 'forgotten', Snapshot | undefined> = {
  first: undefined,
  plain: undefined,
  isolated: undefined,
  forgotten: undefined,
};

async function backUp(namespace: { plain?: boolean; isolated?: boolean } = {}): Promise<Snapshot> {
  const { snapshot } = await archive(
    {
      repository,
      sources: [source],
      host: 'host',
      user: 'user',
      tool: 'test',
      tags: ['täg'],
      pinned: false,
      compression: { kind: 'zstd', level: 1 },
      plain: namespace.plain ?? false,
      isolated: namespace.isolated ?? false,
      exclude: NO_EXCLUSIONS,
      parent: 'none',
      workers: 2,
    },
    SILENT,
    signal,
  );
  return snapshot;
}

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'holdfast-stranger-'));
  const tree = path.join(home, 'tree');
  source = bytesOfText(tree);
  // What has no rights only root can read to compare it.
  const unreadable = process.getuid?.() === 0 ? [] : (['modes'] as const);
  await makeTortureTree(tree, { without: ['contents', 'sparse', 'many', 'beyond-path-max', ...unreadable] });
  const random = seededRandom(5);
  // More than 1,024 chunks, so that their ids stand in lists, with zeros in between.
  writeFileSync(
    path.join(tree, 'long'),
    Buffer.concat([random.bytes(12e6), Buffer.alloc(3e5), random.bytes(3e6)]),
  );
  for (const size of [0, 1, 4_096, 262_143, 262_144, 262_145])
    writeFileSync(path.join(tree, `${size} bytes`), random.bytes(size));
  mkdirSync(path.join(tree, 'crowd'));
  for (let i = 0; i < 1_500; i += 1) writeFileSync(path.join(tree, 'crowd', `file ${i}`), `${i}`);
  repository = await createRepository(
    await openLocalDestination(path.join(home, 'repository'), { create: true }),
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [
        { secret: { kind: 'passphrase', text: PASSPHRASE }, label: 'passphrase' },
        { secret: { kind: 'recovery', secret: recovery }, label: 'recovery kit' },
      ],
      cost: { m: 64, t: 1, p: 1 },
      chunker: { min: 4_096, avg: 8_192, max: 16_384 },
      packTarget: 4 * 1024 * 1024,
      segmentTarget: 256 * 1024,
    },
    signal,
  );
  snapshots.first = await backUp();
  writeFileSync(path.join(tree, 'crowd', 'file 7'), 'another seven');
  snapshots.isolated = await backUp({ isolated: true });
  snapshots.plain = await backUp({ plain: true });
  writeFileSync(path.join(tree, 'crowd', 'file 7'), '7');
  snapshots.forgotten = await backUp();
  await forgetSnapshots(repository, [snapshots.forgotten.id], 'test', signal);
});

afterAll(async () => {
  await repository?.close();
  if (home !== undefined) removeTree(home);
});

function entriesOf(snapshot: Snapshot | undefined, secret: StrangerSecret, options: StrangerOptions = {}) {
  const entries = new Map<string, StrangerEntry>();
  const chosen = { weakCost: true, only: snapshot?.id, ...options };
  for (const one of readRepository(path.join(home, 'repository'), secret, chosen)) entries.set(one.path, one);
  return entries;
}

/** What a stranger can say of an entry, in the words of the system. */
function described({ entry }: StrangerEntry) {
  return {
    type: entry.type,
    mode: entry.mode,
    uid: entry.uid,
    gid: entry.gid,
    mtimeNs: entry.mtimeNs,
    inode: entry.inode,
    links: entry.type === 2 ? undefined : (entry.links ?? 1n),
    xattrs: entry.xattrs.map(({ name, value }) => `${name.toString('latin1')}=${value.toString('hex')}`),
    target: entry.target?.toString('latin1'),
    device: [entry.major, entry.minor],
  };
}

const TYPES: Readonly<Record<number, number>> = { 8: 1, 4: 2, 10: 3, 1: 4, 12: 5, 2: 6, 6: 7 };

function onDisk(file: ByteString): ReturnType<typeof described> {
  const stat = lstatSync(fsPath(file), { bigint: true });
  const type = TYPES[Number(stat.mode >> 12n)] ?? 0;
  const { major, minor } = splitDeviceNumber(stat.rdev);
  const xattrs = readXattrs(file, (_, error) => {
    throw error;
  });
  return {
    type,
    mode: Number(stat.mode & 0o7777n),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    mtimeNs: stat.mtimeNs,
    inode: stat.ino,
    links: type === 2 ? undefined : stat.nlink,
    xattrs: xattrs.map(({ name, value }) => `${name}=${value.toString('hex')}`),
    target: type === 3 ? readlinkSync(fsPath(file), 'latin1') : undefined,
    device: type === 6 || type === 7 ? [major, minor] : [0, 0],
  };
}

function pathsBelow(directory: ByteString): ByteString[] {
  return readdirSync(fsPath(directory), { encoding: 'latin1', withFileTypes: true }).flatMap((found) => {
    const file = joinBytes(directory, found.name as ByteString);
    return found.isDirectory() ? [file, ...pathsBelow(file)] : [file];
  });
}

describe('a reader written from docs/repository-format.md alone', () => {
  it.each(['index', 'directories'] as const)(
    'gives every entry of a real backup as the disk has it, finding chunks by %s',
    (places) => {
      const entries = entriesOf(snapshots.first, { passphrase: PASSPHRASE.normalize('NFD') }, { places });
      const below = [...entries.keys()].filter((file) => file.startsWith(`${source}/`));
      const paths = pathsBelow(source);

      expect(below.sort()).toEqual([...paths].sort());
      expect(entries.get(`${source}/long`)?.entry.indirect).toBe(true);
      for (const file of paths) {
        const entry = entries.get(file);
        if (entry === undefined || file.endsWith('/crowd')) continue;
        const wanted = onDisk(file);
        const found = described(entry);
        // Rewritten after the first snapshot.
        const mtimeNs = file.endsWith('/crowd/file 7') ? found.mtimeNs : wanted.mtimeNs;
        expect(found).toEqual({ ...wanted, mtimeNs });
        if (wanted.type === 1) expect(entry.content?.equals(readFileSync(fsPath(file))), file).toBe(true);
      }
    },
  );

  it('reads plain and isolated snapshots with the recovery code', () => {
    const secret = { recoveryCode: ` ${formatRecoveryCode(recovery).toLowerCase().replaceAll('o', '0')}\n` };
    const first = entriesOf(snapshots.first, secret);

    for (const snapshot of [snapshots.plain, snapshots.isolated]) {
      const entries = entriesOf(snapshot, secret);

      expect([...entries.keys()]).toEqual([...first.keys()]);
      for (const [file, { content }] of entries) {
        const wanted = file.endsWith('/crowd/file 7')
          ? Buffer.from('another seven')
          : first.get(file)?.content;
        expect(content?.equals(wanted ?? Buffer.from('absent')) ?? wanted === undefined, file).toBe(true);
      }
    }
  });

  it('shows nothing of a forgotten snapshot', () => {
    expect(entriesOf(snapshots.forgotten, { passphrase: PASSPHRASE }).size).toBe(0);
  });

  it('opens nothing with another passphrase', () => {
    expect(() => entriesOf(snapshots.first, { passphrase: `${PASSPHRASE}!` })).toThrow(/opens no slot/);
  });
});

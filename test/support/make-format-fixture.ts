/**
 * Makes the repository that is kept as an example of format 1, and its manifest:
 * `node test/support/make-format-fixture.ts test/fixtures/repositories/format-1`. Needs root, for owners and devices.
 * A fixture that a released version has shipped is never made anew.
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { archiveStream } from '../../src/archiver/stream.ts';
import { asByteString, bytesOfText } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { formatRecoveryCode } from '../../src/codec/recovery-code.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { removeKey } from '../../src/repository/keys/keys.ts';
import { recover } from '../../src/repository/check/recover.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import { forgetSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { native } from '../../src/system/native.ts';
import { writeXattr } from '../../src/system/xattr.ts';
import { backUpExample } from './fixture-backup.ts';
import { writeFixture, type FixtureFacts } from './fixture-repositories.ts';
import { removeTree } from './remove-tree.ts';
import { seededRandom } from './seeded-random.ts';
import { entriesOnDisk, manifestOf, sha256 } from './tree-manifest.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

const PASSPHRASE = 'the fixture of format 1';
const HOME = '/tmp/holdfast-fixture';
const MAIN = path.join(HOME, 'main');
const SMALL = path.join(HOME, 'small');
const { signal } = new AbortController();

async function makeSources(): Promise<void> {
  const random = seededRandom(1);
  removeTree(HOME);
  mkdirSync(path.join(MAIN, 'crowd'), { recursive: true });
  mkdirSync(path.join(MAIN, 'empty directory'));
  mkdirSync(SMALL);
  const write = (name: string | Buffer, content: string | Buffer): void => {
    const file = Buffer.concat([Buffer.from(`${MAIN}/`), Buffer.from(name)]);
    writeFileSync(file, content);
  };
  write('empty', '');
  write('one byte', 'x');
  write('random', random.bytes(20_000));
  write('twin', random.bytes(5_000));
  write('twin again', readFileSync(path.join(MAIN, 'twin')));
  // One pattern over and over: more than 1,024 chunks, of which few are different.
  write('long', Buffer.alloc(18 * 1024 * 1024, 'the quick brown fox jumps over the lazy dog\n'));
  write('zeros', Buffer.concat([random.bytes(3_000), Buffer.alloc(500_000), random.bytes(1_000)]));
  write('sparse', random.bytes(100));
  truncateSync(path.join(MAIN, 'sparse'), 3_000_000);
  write(Buffer.from([0xff, 0xfe, 0x0a, 0x22]), 'a name that is not UTF-8');
  write('Größe', 'a name in UTF-8');
  for (let i = 0; i < 1_400; i += 1)
    writeFileSync(path.join(MAIN, 'crowd', `entry ${i}`), i % 10 === 0 ? `${i}` : '');
  linkSync(path.join(MAIN, 'twin'), path.join(MAIN, 'crowd', 'another name of twin'));
  symlinkSync('../no such place', path.join(MAIN, 'dangling'));
  symlinkSync(Buffer.from([0x2f, 0xff]), path.join(MAIN, 'not UTF-8'));
  chmodSync(path.join(MAIN, 'one byte'), 0o4751);
  chownSync(path.join(MAIN, 'one byte'), 12_345, 4_294_967_294);
  writeXattr(bytesOfText(path.join(MAIN, 'one byte')), asByteString('user.empty'), Buffer.alloc(0));
  writeXattr(bytesOfText(path.join(MAIN, 'one byte')), asByteString('user.some'), Buffer.from([0, 1, 255]));
  writeXattr(
    bytesOfText(path.join(MAIN, 'empty directory')),
    asByteString('user.of a directory'),
    Buffer.from('x'),
  );
  if (native === null) throw new Error('no system calls here');
  const directory = native.openat(-100, bytesOfText(MAIN), 0);
  native.mknodat(directory, asByteString('fifo'), 0o010640, 0, 0);
  native.mknodat(directory, asByteString('null'), 0o020666, 1, 3);
  native.mknodat(directory, asByteString('loop'), 0o060660, 7, 1_000);
  native.close(directory);
  const server = createServer().listen(path.join(HOME, 'socket'));
  await once(server, 'listening');
  linkSync(path.join(HOME, 'socket'), path.join(MAIN, 'socket'));
  server.close();
  utimesSync(path.join(MAIN, 'empty'), 0, -2_000_000_000.5);
  utimesSync(path.join(MAIN, 'random'), 0, 15_000_000_000);
  writeFileSync(path.join(SMALL, 'file'), random.bytes(2_000));
  writeFileSync(path.join(SMALL, 'text'), 'the same in every namespace\n'.repeat(20));
}

const backUp = async (
  repository: Repository,
  source: string,
  overrides: Partial<ArchiveRequest> = {},
): Promise<Snapshot> =>
  await backUpExample(repository, source, { tags: ['fixture'], parent: 'auto', ...overrides });

async function makeRepository(directory: string): Promise<FixtureFacts> {
  const destination = await openLocalDestination(directory, { create: true });
  const recovery = createHash('sha256').update('the recovery code of the fixture').digest();
  const machine = createHash('sha256').update('a key that is removed').digest();
  const first = await createRepository(
    destination,
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [
        { secret: { kind: 'passphrase', text: PASSPHRASE }, label: 'passphrase' },
        { secret: { kind: 'recovery', secret: recovery }, label: 'recovery kit' },
        { secret: { kind: 'machine', secret: machine }, label: 'machine' },
      ],
      cost: { m: 65_536, t: 1, p: 4 },
      chunker: { min: 4_096, avg: 8_192, max: 16_384 },
      packTarget: 65_536,
      segmentTarget: 65_536,
    },
    signal,
  );
  const forgotten = [await backUp(first, MAIN)];
  writeFileSync(path.join(MAIN, 'crowd', 'entry 7'), 'seven');
  rmSync(path.join(MAIN, 'twin again'));
  const second = await backUp(first, MAIN);
  forgotten.push(second);
  const machineSlot = first.keyring.slots.find(({ kind }) => kind === 'machine');
  const { repository } = await removeKey(first, machineSlot?.slot ?? '', signal);
  const isolated = await backUp(repository, SMALL, { isolated: true });
  const plain = await backUp(repository, SMALL, { plain: true });
  const dump = Buffer.from('insert into t values (1);\n'.repeat(4_000));
  const { snapshot: stream } = await archiveStream(
    {
      repository,
      path: bytesOfText('/dumps/dump.sql'),
      host: 'example',
      user: 'somebody',
      tool: 'holdfast 0.1.0',
      tags: [],
      pinned: true,
      compression: { kind: 'zstd', level: 19 },
      plain: false,
      isolated: false,
    },
    async function* pieces() {
      yield await Promise.resolve(dump);
    },
    SILENT,
    signal,
  );
  await forgetSnapshots(repository, [forgotten[0]?.id ?? ''], 'example', signal);
  const rewritten = await rewriteSnapshot(
    repository,
    second,
    { tags: ['fixture', 'täg'], pinned: true },
    signal,
  );
  await recover(repository, signal);
  const options = { clock: systemClock, stateDirectory: undefined };
  const other = await openRepository(destination, { kind: 'recovery', secret: recovery }, options, signal);
  const second_writer = await backUp(other, SMALL, { compression: { kind: 'none' }, host: 'another' });

  const below = (source: string, snapshot: Snapshot) => ({
    id: snapshot.id,
    source,
    ...manifestOf(entriesOnDisk(bytesOfText(source))),
  });
  const dumped = { size: dump.length, sha256: sha256(dump) };
  const mtime = `${stream.record.startedMs}000000`;
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const entry = { path: '/dumps/dump.sql', type: 'file' as const, mode: '600', ...owner, mtime, ...dumped };
  return {
    passphrase: PASSPHRASE,
    recovery_code: formatRecoveryCode(recovery),
    repository: repository.id,
    snapshots: {
      rewritten: below(MAIN, rewritten),
      isolated: below(SMALL, isolated),
      plain: below(SMALL, plain),
      stream: { id: stream.id, source: '/dumps', entries: [entry], crowds: [] },
      second_writer: below(SMALL, second_writer),
    },
    forgotten: forgotten.map(({ id }) => id),
  };
}

const [output] = process.argv.slice(2);
if (output === undefined) throw new Error('usage: make-format-fixture.ts OUTPUT (without extension)');
await makeSources();
const store = path.join(HOME, 'store');
const facts = await makeRepository(store);
const size = await writeFixture(output, store, facts);
removeTree(HOME);
process.stdout.write(`${size} bytes\n`);

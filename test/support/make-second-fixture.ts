/**
 * Makes a second repository that is kept as an example of format 1, with what the first does not have: three generations
 * of keys, removed keys of two kinds, a second configuration, packs that prune repacked and marked, leases, a partial
 * snapshot, and every kind of entry in each namespace. Needs root without the right to read everything:
 * `setpriv --inh-caps=-all --bounding-set=-dac_override,-dac_read_search node test/support/make-second-fixture.ts test/fixtures/repositories/format-1-more`.
 * A fixture that a released version has shipped is never made anew.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { asByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { formatRecoveryCode } from '../../src/codec/recovery-code.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { addKey, removeKey } from '../../src/repository/keys/keys.ts';
import { newLeaseRecord, putLease } from '../../src/repository/lease-objects.ts';
import { acquirePruneLease } from '../../src/repository/take-lease.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { putConfig } from '../../src/repository/configuration.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import { native } from '../../src/system/native.ts';
import { writeXattr } from '../../src/system/xattr.ts';
import { backUpExample } from './fixture-backup.ts';
import { writeFixture, type FixtureFacts } from './fixture-repositories.ts';
import { removeTree } from './remove-tree.ts';
import { seededRandom } from './seeded-random.ts';
import { entriesOnDisk, manifestOf, type Manifest } from './tree-manifest.ts';

const PASSPHRASE = 'the second fixture of format 1';
const REMOVED_PASSPHRASE = 'known to somebody who left';
const HOME = '/tmp/holdfast-second-fixture';
const [MAIN, PARTIAL] = [path.join(HOME, 'main'), path.join(HOME, 'partial')];
const cost = { m: 65_536, t: 1, p: 1 };
const { signal } = new AbortController();
const random = seededRandom(2);

const secretOf = (name: string): Buffer => createHash('sha256').update(name).digest();

/** Access of the owner, one more user, the group, the mask, others; as the kernel keeps it. */
function accessList(): Buffer {
  const bytes = Buffer.alloc(4 + 5 * 8);
  bytes.writeUInt32LE(2);
  const entries = [
    [1, 6, -1],
    [2, 4, 12_345],
    [4, 4, -1],
    [16, 4, -1],
    [32, 0, -1],
  ] as const;
  for (const [i, [tag, rights, id]] of entries.entries()) {
    bytes.writeUInt16LE(tag, 4 + 8 * i);
    bytes.writeUInt16LE(rights, 6 + 8 * i);
    bytes.writeInt32LE(id, 8 + 8 * i);
  }
  return bytes;
}

function attach(file: string, name: string, value: Buffer): void {
  writeXattr(treePath(path.join(MAIN, file)), asByteString(name), value);
}

function makeSources(): void {
  removeTree(HOME);
  mkdirSync(path.join(MAIN, 'a', 'b'), { recursive: true });
  mkdirSync(path.join(MAIN, 'shared'));
  mkdirSync(PARTIAL);
  const write = (name: string, content: string | Buffer): void =>
    writeFileSync(path.join(MAIN, name), content);
  write('random', random.bytes(14_000));
  write('one', random.bytes(900));
  linkSync(path.join(MAIN, 'one'), path.join(MAIN, 'a', 'two'));
  linkSync(path.join(MAIN, 'one'), path.join(MAIN, 'a', 'b', 'three'));
  symlinkSync('one', path.join(MAIN, 'link'));
  linkSync(path.join(MAIN, 'link'), path.join(MAIN, 'a', 'another name of link'));
  lutimesSync(path.join(MAIN, 'link'), 0, 1_000_000_000.25);
  symlinkSync('/', path.join(MAIN, 'link to the root'));
  const hole = 400_000;
  write(
    'holes',
    Buffer.concat([Buffer.alloc(hole), random.bytes(500), Buffer.alloc(hole), random.bytes(70)]),
  );
  truncateSync(path.join(MAIN, 'holes'), 3 * hole);
  write('nothing but a hole', '');
  truncateSync(path.join(MAIN, 'nothing but a hole'), 1_000_000);
  write('n'.repeat(255), 'a name of 255 bytes');
  write('-rf *\n\t"\\', 'a name to be careful with');
  write('attributes', 'with an access list and attributes');
  attach('attributes', 'user.large', random.bytes(300));
  attach('attributes', 'trusted.of the system', Buffer.from('trusted'));
  // CAP_NET_BIND_SERVICE, permitted and effective.
  attach('attributes', 'security.capability', Buffer.from('0100000200040000000000000000000000000000', 'hex'));
  attach('attributes', 'system.posix_acl_access', accessList());
  attach('shared', 'system.posix_acl_default', accessList());
  attach('link to the root', 'trusted.of a link', Buffer.from('x'));
  chmodSync(path.join(MAIN, 'shared'), 0o3775);
  chownSync(path.join(MAIN, 'shared'), 65_534, 100);
  if (native === null) throw new Error('no system calls here');
  const directory = native.openat(-100, treePath(MAIN), 0);
  native.mknodat(directory, asByteString('fifo'), 0o010_600, 0, 0);
  native.mknodat(directory, asByteString('terminal'), 0o020_620, 4_095, 1_048_575);
  native.mknodat(directory, asByteString('disk'), 0o060_660, 259, 0);
  native.mknodat(directory, asByteString('socket'), 0o140_755, 0, 0);
  native.close(directory);
  linkSync(path.join(MAIN, 'fifo'), path.join(MAIN, 'a', 'another name of fifo'));
  let deep = path.join(MAIN, 'deep');
  for (let level = 0; level < 20; level += 1) {
    mkdirSync(deep);
    deep = path.join(deep, 'd');
  }
  writeFileSync(deep, 'at the bottom');
  utimesSync(path.join(MAIN, 'a', 'b'), 0, -1.5);
  writeFileSync(path.join(PARTIAL, 'open'), 'everybody reads this');
}

/** A snapshot that lacks a file and has another as it was in the middle of being written. */
async function partialBackup(repository: Repository): Promise<Snapshot> {
  writeFileSync(path.join(PARTIAL, 'closed'), 'nobody reads this', { mode: 0 });
  const writer = spawn('sh', ['-c', `while :; do echo x; done >> ${PARTIAL}/growing`], { stdio: 'ignore' });
  try {
    for (let attempt = 0; attempt < 50; attempt += 1) {
      // Long enough that reading it takes a while.
      writeFileSync(path.join(PARTIAL, 'growing'), Buffer.alloc(600_000, 'x\n'));
      const snapshot = await backUpExample(repository, PARTIAL);
      const codes = snapshot.record.errors.map(({ code }) => code);
      if (codes.includes('EACCES') && codes.includes('CHANGED')) return snapshot;
      await forgetSnapshots(repository, [snapshot.id], 'example', signal);
    }
    throw new Error('no file changed while it was read');
  } finally {
    writer.kill();
    await once(writer, 'close');
  }
}

/** The manifest of the partial snapshot: its growing file had only lines of one letter. */
async function partialManifest(repository: Repository, snapshot: Snapshot): Promise<Manifest> {
  const index = await loadIndex(repository, { without: new Set() }, signal);
  const reader = new TreeReader(repository, index, { plain: false });
  let id = snapshot.record.root;
  for (const name of PARTIAL.split('/').slice(1)) {
    const entry = (await reader.directory(id, signal)).find((one) => one.name === name);
    if (entry?.type !== 'directory') throw new Error(`no directory ${name}`);
    id = entry.id;
  }
  const growing = (await reader.directory(id, signal)).find(({ name }) => name === 'growing');
  if (growing?.type !== 'file' || !growing.changedWhileRead) throw new Error('it is not marked as changed');
  rmSync(path.join(PARTIAL, 'closed'));
  writeFileSync(path.join(PARTIAL, 'growing'), Buffer.alloc(growing.size, 'x\n'));
  const { entries, crowds } = manifestOf(entriesOnDisk(treePath(PARTIAL)));
  const changed = path.join(PARTIAL, 'growing');
  const mtime = String(growing.mtimeNs);
  return { entries: entries.map((entry) => (entry.path === changed ? { ...entry, mtime } : entry)), crowds };
}

async function makeRepository(store: string): Promise<{ facts: FixtureFacts; release: () => Promise<void> }> {
  const destination = await openLocalDestination(store, { create: true });
  const machine = secretOf('the machine of the second fixture');
  const recovery = secretOf('the recovery code of the second fixture');
  const removedRecovery = secretOf('a recovery code that was removed');
  const created = await createRepository(
    destination,
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [
        { secret: { kind: 'passphrase', text: REMOVED_PASSPHRASE }, label: 'first' },
        { secret: { kind: 'machine', secret: machine }, label: 'machine' },
      ],
      cost,
      chunker: { min: 4_096, avg: 8_192, max: 16_384 },
      packTarget: 65_536,
      segmentTarget: 65_536,
    },
    signal,
  );
  const oldest = await backUpExample(created, MAIN);
  let repository = created;
  const add = async (secret: Parameters<typeof addKey>[1]['secret'], label: string): Promise<void> => {
    ({ repository } = await addKey(repository, { secret, label, cost }, signal));
  };
  const remove = async (label: string): Promise<void> => {
    const slot = repository.keyring.slots.find((one) => one.label === label)?.slot ?? '';
    ({ repository } = await removeKey(repository, slot, signal));
  };
  await add({ kind: 'passphrase', text: PASSPHRASE }, 'second');
  await add({ kind: 'recovery', secret: removedRecovery }, 'old kit');
  await remove('first');
  const early = await backUpExample(repository, path.join(PARTIAL, 'open'), { tags: ['second generation'] });
  const open = entriesOnDisk(treePath(PARTIAL));
  await add({ kind: 'recovery', secret: recovery }, 'kit');
  await remove('old kit');
  await putConfig(repository, { ...repository.config, graceSeconds: 1_000 }, 2, signal);
  writeFileSync(path.join(MAIN, 'random'), random.bytes(9_000));
  const main = await backUpExample(repository, MAIN, { pinned: true });
  await forgetSnapshots(repository, [oldest.id], 'example', signal);
  const now = { noOtherWriters: true, graceSeconds: 0, repackBelow: 0.9 };
  await prune(repository, now, SILENT_PRUNE, signal);
  await prune(repository, now, SILENT_PRUNE, signal);
  const plain = await backUpExample(repository, MAIN, { plain: true });
  const isolated = await backUpExample(repository, MAIN, { isolated: true });
  const both = await backUpExample(repository, MAIN, {
    plain: true,
    isolated: true,
    compression: { kind: 'none' },
  });
  const options = { clock: systemClock, stateDirectory: undefined };
  const other = await openRepository(destination, { kind: 'machine', secret: machine }, options, signal);
  const second_writer = await backUpExample(other, MAIN, { host: 'another' });
  const below = (source: string, snapshot: Snapshot) => ({
    id: snapshot.id,
    source,
    ...manifestOf(entriesOnDisk(treePath(source))),
  });
  const ofMain = {
    main: below(MAIN, main),
    plain: below(MAIN, plain),
    isolated: below(MAIN, isolated),
    plain_isolated: below(MAIN, both),
    second_writer: below(MAIN, second_writer),
  };
  // What this one alone needs is marked and stays: tombstones of packs.
  const doomed = await backUpExample(repository, path.join(MAIN, 'a'));
  await forgetSnapshots(repository, [doomed.id], 'example', signal);
  await prune(repository, { noOtherWriters: false, graceSeconds: 1_000_000 }, SILENT_PRUNE, signal);
  const partial = await partialBackup(repository);
  const partialFacts = { id: partial.id, source: PARTIAL, ...(await partialManifest(repository, partial)) };
  const session = '0123456789abcdef';
  await putLease(repository, `session.${session}`, 1, newLeaseRecord(repository, session), signal);
  const lease = await acquirePruneLease(repository, {}, signal);
  const snapshots = {
    early: { id: early.id, source: PARTIAL, ...manifestOf(open) },
    ...ofMain,
    partial: partialFacts,
  };
  const live = new Set(Object.values(snapshots).map(({ id }) => id));
  const facts = {
    passphrase: PASSPHRASE,
    recovery_code: formatRecoveryCode(recovery),
    machine_key: machine.toString('hex'),
    removed: { passphrase: REMOVED_PASSPHRASE, recovery_code: formatRecoveryCode(removedRecovery) },
    repository: repository.id,
    snapshots,
    forgotten: readdirSync(path.join(store, 'snapshots')).filter((id) => !live.has(id)),
  };
  return { facts, release: async () => await lease.release() };
}

const [output] = process.argv.slice(2);
if (output === undefined) throw new Error('usage: make-second-fixture.ts OUTPUT (without extension)');
makeSources();
const store = path.join(HOME, 'store');
const { facts, release } = await makeRepository(store);
const size = await writeFixture(output, store, facts);
await release();
removeTree(HOME);
process.stdout.write(`${size} bytes\n`);

/**
 * Makes the repository that is kept as an example of format 2, which is format 1 with write-only keys, and the first one
 * with second copies: two machines that add backups which they cannot read, before and after a rotation, one of whose
 * keys is removed.
 * `node test/support/make-write-only-fixture.ts test/fixtures/repositories/format-2`. Needs root, for owners.
 * A fixture that a released version has shipped is never made anew.
 */

import { createHash } from 'node:crypto';
import {
  chownSync,
  linkSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { formatRecoveryCode } from '../../src/codec/recovery-code.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { addKey, removeKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import { forgetSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { backUpExample } from './fixture-backup.ts';
import { writeFixture, type FixtureFacts } from './fixture-repositories.ts';
import { removeTree } from './remove-tree.ts';
import { seededRandom } from './seeded-random.ts';
import { entriesOnDisk, manifestOf } from './tree-manifest.ts';

const PASSPHRASE = 'the fixture of format 2';
const HOME = '/tmp/holdfast-write-only-fixture';
const SOURCE = path.join(HOME, 'source');
const COST = { m: 65_536, t: 1, p: 2 };
const { signal } = new AbortController();
const random = seededRandom(3);

const secretOf = (name: string): Buffer => createHash('sha256').update(name).digest();
const writeOnly = (name: string): Secret => ({ kind: 'write-only', secret: secretOf(name) });

function makeSource(): void {
  removeTree(SOURCE);
  mkdirSync(path.join(SOURCE, 'directory', 'empty'), { recursive: true });
  const write = (name: string, content: string | Buffer): void =>
    writeFileSync(path.join(SOURCE, name), content);
  write('random', random.bytes(20_000));
  write('text', 'what both kinds of machine store\n'.repeat(500));
  write('nothing', '');
  linkSync(path.join(SOURCE, 'text'), path.join(SOURCE, 'directory', 'another name'));
  symlinkSync('../text', path.join(SOURCE, 'directory', 'link'));
  write('holes', random.bytes(700));
  truncateSync(path.join(SOURCE, 'holes'), 2_000_000);
  chownSync(path.join(SOURCE, 'random'), 1_000, 1_001);
  utimesSync(path.join(SOURCE, 'random'), 0, 1_234_567_890.25);
}

/** One run of a machine that has no other key. */
async function backUpBy(destination: Destination, secret: Secret, host: string): Promise<Snapshot> {
  const options = { clock: systemClock, stateDirectory: undefined };
  return await backUpExample(await openRepository(destination, secret, options, signal), SOURCE, { host });
}

async function makeRepository(store: string): Promise<FixtureFacts> {
  const destination = await openLocalDestination(store, { create: true });
  const recovery = secretOf('the recovery code of the fixture of format 2');
  const [server, removed] = [writeOnly('the write-only key of a server'), writeOnly('one that was removed')];
  let repository = await createRepository(
    destination,
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [
        { secret: { kind: 'passphrase', text: PASSPHRASE }, label: 'passphrase' },
        { secret: { kind: 'recovery', secret: recovery }, label: 'recovery kit' },
      ],
      cost: COST,
      chunker: { min: 4_096, avg: 8_192, max: 16_384 },
      packTarget: 65_536,
      segmentTarget: 65_536,
    },
    signal,
  );
  const below = (snapshot: Snapshot) => ({
    id: snapshot.id,
    source: SOURCE,
    ...manifestOf(entriesOnDisk(treePath(SOURCE))),
  });
  const own = below(await backUpExample(repository, SOURCE));
  ({ repository } = await addKey(repository, { secret: server, label: 'server', cost: COST }, signal));
  const gone = await addKey(repository, { secret: removed, label: 'gone', cost: COST }, signal);
  const forgotten = await backUpBy(destination, server, 'server');
  const serverFirst = below(await backUpBy(destination, server, 'server'));
  const removedServer = below(await backUpBy(destination, removed, 'gone'));
  ({ repository } = await removeKey(gone.repository, gone.slot, signal));
  await rotateKeys(repository, signal);
  makeSource();
  const serverLater = below(await backUpBy(destination, server, 'server'));
  const ownLater = below(await backUpExample(repository, SOURCE, { pinned: true }));
  await forgetSnapshots(repository, [forgotten.id], 'example', signal);
  await prune(repository, { noOtherWriters: false, graceSeconds: 1_000_000 }, SILENT_PRUNE, signal);
  return {
    passphrase: PASSPHRASE,
    recovery_code: formatRecoveryCode(recovery),
    write_only_key: secretOf('the write-only key of a server').toString('hex'),
    removed_write_only_key: secretOf('one that was removed').toString('hex'),
    repository: repository.id,
    snapshots: {
      own,
      server_first: serverFirst,
      removed_server: removedServer,
      server_later: serverLater,
      own_later: ownLater,
    },
    forgotten: [forgotten.id],
  };
}

const [output] = process.argv.slice(2);
if (output === undefined) throw new Error('usage: make-write-only-fixture.ts OUTPUT (without extension)');
removeTree(HOME);
makeSource();
const store = path.join(HOME, 'store');
const facts = await makeRepository(store);
const size = await writeFixture(output, store, facts);
removeTree(HOME);
process.stdout.write(`${size} bytes\n`);

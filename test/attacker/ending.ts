/** What docs/security.md tells the administrator to do once a machine was taken over, in its order, and that all goes on after it. */
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { listKeys, removeKey } from '../../src/repository/keys/keys.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { findLost, giveUpLost } from '../../src/repository/chains/lost-records.ts';
import { prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { recover } from '../../src/repository/check/recover.ts';
import { rekey, SILENT_REKEY } from '../../src/repository/renew/rekey.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { GRACE_MS, HOUR, MINUTE } from '../simulator/times.ts';
import { requestOf } from './backup-request.ts';
import { checkAll } from './deeds.ts';
import { storedBy } from './judged.ts';
import { HONEST, type Deed, type Ending } from './plan.ts';
import type { Power } from './powers.ts';
import { Broken } from './promises.ts';
import type { QuickMachine } from './quick-machine.ts';
import { THIEF_KEY, type Host } from './scene.ts';

export interface EndingParts {
  readonly power: Power;
  readonly slotOfThief: string;
  readonly ending: Ending;
  /** The storage has taken something away. */
  readonly isSpoiled: boolean;
  readonly pass: (ms: number) => void;
  readonly as: (
    host: Host,
    name: string,
    work: (repository: Repository, machine: QuickMachine, signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
  readonly deed: (host: Host, what: Deed) => Promise<void>;
  /** The judge looks at everything. */
  readonly look: () => Promise<void>;
  /** What lost its data to the storage: a check names it, and the administrator forgets it. */
  readonly lacking: () => Promise<readonly string[]>;
  /** With the key as the attacker had it, if it has one. */
  readonly plantSession: () => void;
  /** Whether the attacker has stored what stands under this key. */
  readonly planted: (key: string) => boolean;
}

export async function endingOf({
  slotOfThief,
  ending,
  isSpoiled,
  pass,
  as,
  deed,
  look,
  lacking,
  plantSession,
  planted,
}: EndingParts): Promise<void> {
  if (ending === 'look') {
    await look();
    return;
  }
  const isWhole = ending === 'whole';
  // Leases that somebody has replayed a moment ago are over by then.
  pass(HOUR);
  await as('admin', 'keys remove', async (repository, _, signal) => {
    const keys = await listKeys(repository, signal);
    if (keys.some(({ slot }) => slot === slotOfThief)) await removeKey(repository, slotOfThief, signal);
  });
  if (isSpoiled)
    await as('admin', 'check --read-data', async (repository, _, signal) => {
      await checkAll(repository, 'all', signal);
    });
  const lost = await lacking();
  await as('admin', 'forget what was planted', async (repository, _, signal) => {
    const { live, damaged } = await listSnapshots(repository, signal);
    const stored = live.filter((one) => storedBy(one) === THIEF_KEY || lost.includes(one.id));
    const ids = [...stored, ...damaged].map(({ id }) => id);
    await forgetSnapshots(repository, ids, 'planted', signal);
  });
  // Each machine that may remember what the storage has taken away.
  for (const host of isSpoiled ? (['admin', 'db1'] as const) : (['admin'] as const))
    await as(host, 'forget --lost', async (repository, _, signal) => {
      const records = await findLost(repository, signal);
      if (records.length > 0)
        await giveUpLost(
          repository,
          records.map(({ record }) => record),
          signal,
        );
    });
  if (isWhole)
    await as(
      'admin',
      'keys rekey',
      async (repository, _, signal) => void (await rekey(repository, {}, SILENT_REKEY, signal)),
    );
  await as('admin', 'recover', async (repository, _, signal) => void (await recover(repository, signal)));
  for (const host of isWhole ? HONEST : (['db1'] as const)) await deed(host, 'backup');
  if (isWhole) await deed('db1', 'retention');
  await as(
    'db1',
    'prune',
    async (repository, _, signal) => void (await prune(repository, {}, SILENT_PRUNE, signal)),
  );
  await look();
  if (!isWhole) return;
  pass(GRACE_MS + HOUR);
  // Whoever has the removed key still says that a backup is at work: it holds nothing up any more.
  plantSession();
  await as('admin', 'forget and prune', async (repository, machine, signal) => {
    machine.sources.write(`${machine.sources.root}/unique`, machine.chance.bytes(1_000));
    const { snapshot } = await archive(requestOf(repository, machine, 'to be forgotten'), SILENT, signal);
    await forgetSnapshots(repository, [snapshot.id], 'by hand', signal);
    await repository.clock.sleep(MINUTE, signal);
    plantSession();
    const { markedPacks } = await prune(repository, {}, SILENT_PRUNE, signal);
    if (markedPacks === 0)
      throw new Broken('usable-afterwards', 'a session of the removed key holds prune up');
  });
  await as('admin', 'check', async (repository, _, signal) => {
    const findings = await checkAll(repository, false, signal);
    // What is no pack anybody may have stored; it is left alone.
    const isLeft = (object: string): boolean => planted(packKey(object.replace('pack ', '')));
    const error = findings.find(({ severity, object }) => severity === 'error' && !isLeft(object));
    if (error !== undefined) throw new Broken('usable-afterwards', `check: ${error.object}: ${error.what}`);
  });
  await look();
}

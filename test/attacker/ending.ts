/** What docs/security.md tells the administrator to do once a machine was taken over, in its order, and that all goes on after it. */
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
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
import { storedBy } from './judged.ts';
import { HONEST, type Deed } from './plan.ts';
import type { Power } from './powers.ts';
import { Broken } from './promises.ts';
import type { QuickMachine } from './quick-machine.ts';
import { THIEF_KEY, type Host } from './scene.ts';

const { signal } = new AbortController();

export interface EndingParts {
  readonly power: Power;
  readonly slotOfThief: string;
  readonly endsWhole: boolean;
  readonly pass: (ms: number) => void;
  readonly as: (
    host: Host,
    name: string,
    work: (repository: Repository, machine: QuickMachine) => Promise<void>,
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
  endsWhole,
  pass,
  as,
  deed,
  look,
  lacking,
  plantSession,
  planted,
}: EndingParts): Promise<void> {
  // Leases that somebody has replayed a moment ago are over by then.
  pass(HOUR);
  await as('admin', 'keys remove', async (repository) => {
    const keys = await listKeys(repository, signal);
    if (keys.some(({ slot }) => slot === slotOfThief)) await removeKey(repository, slotOfThief, signal);
  });
  const lost = await lacking();
  await as('admin', 'forget what was planted', async (repository) => {
    const { live, damaged } = await listSnapshots(repository, signal);
    const stored = live.filter((one) => storedBy(one) === THIEF_KEY || lost.includes(one.id));
    const ids = [...stored, ...damaged].map(({ id }) => id);
    await forgetSnapshots(repository, ids, 'planted', signal);
  });
  await as('admin', 'forget --lost', async (repository) => {
    const records = await findLost(repository, signal);
    if (records.length > 0)
      await giveUpLost(
        repository,
        records.map(({ record }) => record),
        signal,
      );
  });
  if (endsWhole)
    await as(
      'admin',
      'keys rekey',
      async (repository) => void (await rekey(repository, {}, SILENT_REKEY, signal)),
    );
  await as('admin', 'recover', async (repository) => void (await recover(repository, signal)));
  for (const host of endsWhole ? HONEST : (['db1'] as const)) await deed(host, 'backup');
  if (endsWhole) await deed('db1', 'retention');
  await as('db1', 'prune', async (repository) => void (await prune(repository, {}, SILENT_PRUNE, signal)));
  await look();
  if (!endsWhole) return;
  pass(GRACE_MS + HOUR);
  // Whoever has the removed key still says that a backup is at work: it holds nothing up any more.
  plantSession();
  await as('admin', 'forget and prune', async (repository, machine) => {
    machine.sources.write(`${machine.sources.root}/unique`, machine.chance.bytes(1_000));
    const { snapshot } = await archive(requestOf(repository, machine, 'to be forgotten'), SILENT, signal);
    await forgetSnapshots(repository, [snapshot.id], 'by hand', signal);
    await repository.clock.sleep(MINUTE, signal);
    plantSession();
    const { markedPacks } = await prune(repository, {}, SILENT_PRUNE, signal);
    if (markedPacks === 0)
      throw new Broken('usable-afterwards', 'a session of the removed key holds prune up');
  });
  await as('admin', 'check', async (repository) => {
    const options = { readData: false, workers: 0 } as const;
    const { findings } = await check(repository, options, SILENT_CHECK, signal);
    // What is no pack anybody may have stored; it is left alone.
    const isLeft = (object: string): boolean => planted(packKey(object.replace('pack ', '')));
    const error = findings.find(({ severity, object }) => severity === 'error' && !isLeft(object));
    if (error !== undefined) throw new Broken('usable-afterwards', `check: ${error.object}: ${error.what}`);
  });
  await look();
}

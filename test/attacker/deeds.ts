/** What honest hosts do: the product's own code, from opening the repository on. */
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { defaultRetryPolicy, withRetry } from '../../src/destination/retry.ts';
import { SILENT_CHECK, type Finding } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import type { ReadData } from '../../src/repository/check/check-packs.ts';
import { markDamaged } from '../../src/repository/check/damaged-packs.ts';
import { removeKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import { prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { recover } from '../../src/repository/check/recover.ts';
import { rekey, SILENT_REKEY } from '../../src/repository/renew/rekey.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { listEverySnapshot } from '../../src/repository/chains/whole-list.ts';
import { STATE_ROOT } from '../simulator/machine.ts';
import type { Manifest } from '../simulator/source-tree.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { requestOf } from './backup-request.ts';
import type { Deed } from './plan.ts';
import type { QuickMachine } from './quick-machine.ts';
import { planOfRules, requireNewestKept } from './own-snapshots.ts';
import { readSome } from './reading.ts';
import { SECRETS, type Host } from './scene.ts';

/** What somebody tells of what he does; nothing of it is believed before it has succeeded. */
export interface DeedWatch {
  readonly backedUp: (id: string, manifest: Manifest) => void;
  /** About to be forgotten: gone or not when that fails. */
  readonly forgets: (ids: readonly string[]) => void;
  readonly checked: (findings: readonly Finding[]) => void;
}

/** Opens the repository as a process that begins, does one thing, and ends. */
export async function asProcess<T>(
  machine: QuickMachine,
  view: Destination,
  work: (repository: Repository, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Whoever listens to it goes with the process.
  const { signal } = new AbortController();
  const policy = { ...defaultRetryPolicy, random: () => machine.chance.next() };
  const options = { clock: machine.clock, stateDirectory: STATE_ROOT };
  const secret = SECRETS[machine.name as Host];
  const repository = await openRepository(withRetry(view, policy), secret, options, signal);
  try {
    return await work(repository, signal);
  } finally {
    await repository.close();
  }
}

/** As `holdfast check` does: what is damaged nobody relies on any more. */
export async function checkAll(
  repository: Repository,
  readData: ReadData,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { findings, packsDamaged } = await check(repository, { readData, workers: 0 }, SILENT_CHECK, signal);
  if (packsDamaged.size > 0) await markDamaged(repository, packsDamaged, signal);
  return findings;
}

export interface DeedRequest {
  readonly what: Deed;
  readonly a: number;
  readonly tag: string;
  readonly slotOfThief: string;
  readonly signal: AbortSignal;
}

export async function doDeed(
  repository: Repository,
  machine: QuickMachine,
  { what, a, tag, slotOfThief, signal }: DeedRequest,
  watch: DeedWatch,
): Promise<void> {
  const random = seededRandom(a);
  switch (what) {
    case 'backup': {
      const { sources } = machine;
      if (random.next() < 0.7)
        sources.write(`${sources.root}/${['one', 'a/two', 'new'][random.below(3)]}`, random.bytes(900));
      const manifest = sources.manifest();
      const { snapshot } = await archive(requestOf(repository, machine, tag), SILENT, signal);
      watch.backedUp(snapshot.id, manifest);
      return;
    }
    case 'retention': {
      const { live } = await listEverySnapshot(repository, 'the rules remove nothing', signal);
      const plan = planOfRules(live, 1 + random.below(2), repository.clock.now());
      requireNewestKept(live, new Set(plan.remove));
      watch.forgets(plan.remove);
      const countingOn = [...plan.kept.keys()];
      await forgetSnapshots(repository, plan.remove, 'removed by rules', signal, { countingOn });
      return;
    }
    case 'forget': {
      const { live } = await listSnapshots(repository, signal);
      const chosen = live.filter(() => random.next() < 0.4).map(({ id }) => id);
      watch.forgets(chosen);
      await forgetSnapshots(repository, chosen, 'by hand', signal);
      return;
    }
    case 'prune':
      await prune(repository, {}, SILENT_PRUNE, signal);
      return;
    case 'check': {
      watch.checked(await checkAll(repository, random.next() < 0.3 && 'all', signal));
      return;
    }
    case 'read':
      await readSome(repository, random, signal);
      return;
    case 'rotate':
      await rotateKeys(repository, signal);
      return;
    case 'rekey':
      await rekey(repository, {}, SILENT_REKEY, signal);
      return;
    case 'recover':
      await recover(repository, signal);
      return;
    case 'remove-key':
      await removeKey(repository, slotOfThief, signal);
  }
}

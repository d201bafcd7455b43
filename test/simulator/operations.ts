/** What the programs of a simulation do: the product's own code, from opening the repository on. */
import { archive } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { defaultRetryPolicy, withRetry } from '../../src/destination/retry.ts';
import { FirstLook, type KeyCopies } from '../../src/repository/first-look.ts';
import { planForgetting, type RetentionRules } from '../../src/repository/retention/forgetting.ts';
import { rotateKeys } from '../../src/repository/keys/keys.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { executePrune, planPrune, prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { rekey, SILENT_REKEY } from '../../src/repository/renew/rekey.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { listEverySnapshot } from '../../src/repository/chains/whole-list.ts';
import { STATE_ROOT, type Machine } from './machine.ts';
import { networkDestination } from './network.ts';
import type { Operation } from './plan.ts';
import type { Manifest } from './source-tree.ts';
import type { ObjectStorage } from './storage.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

/** Where the repository is when it is a directory. */
export const DRIVE_ROOT = '/drive/repository';

/** Where programs find the repository. */
export interface Place {
  readonly storage: ObjectStorage | undefined;
  readonly conditionalCreate: boolean;
  readonly secret: Secret;
}

export interface Run {
  /** Told, before the backup begins, what its snapshot has to give back. */
  readonly expect: (run: string, manifest: Manifest) => void;
  /** A backup was reported as completed. */
  readonly completed: (snapshot: string) => void;
  /** Names this run. */
  readonly name: string;
}

const rules = {
  keep_hourly: null,
  keep_daily: null,
  keep_weekly: null,
  keep_monthly: null,
  keep_yearly: null,
  keep_within: null,
  time_zone: null,
  frozen: [],
} satisfies Partial<RetentionRules>;

/** No copies of key files are kept. */
const NO_COPIES: KeyCopies = {
  read: () => undefined,
  replace: () => {},
  known: { complete: false, large: false, listed: [] },
};

async function destinationOf(machine: Machine, { storage, conditionalCreate }: Place): Promise<Destination> {
  if (storage === undefined) return await openLocalDestination(DRIVE_ROOT);
  const policy = { ...defaultRetryPolicy, random: () => machine.chance.next() };
  return withRetry(networkDestination(machine, storage, { conditionalCreate }), policy);
}

/** Opens the repository as a process that begins, does one thing, and ends. */
export async function operate(
  machine: Machine,
  what: Operation['do'],
  place: Place,
  run: Run,
  signal: AbortSignal,
): Promise<void> {
  const stored = await destinationOf(machine, place);
  const inner: Destination = {
    ...stored,
    put: async (key, body, now) => {
      machine.sends(key);
      return await stored.put(key, body, now);
    },
  };
  const isBackup = what.endsWith('backup');
  const look = new FirstLook(inner, isBackup ? 'everything' : undefined, NO_COPIES);
  const options = { clock: machine.clock, stateDirectory: STATE_ROOT, look };
  const repository = await openRepository(look.destination, place.secret, options, signal);
  try {
    await operateOn(repository, machine, what, run, signal);
  } finally {
    await repository.close();
  }
}

async function operateOn(
  repository: Repository,
  machine: Machine,
  what: Operation['do'],
  run: Run,
  signal: AbortSignal,
): Promise<void> {
  switch (what) {
    case 'backup':
    case 'isolated-backup':
    case 'plain-backup': {
      run.expect(run.name, machine.sources.manifest());
      const request = { ...requestOf(repository, machine, run.name), isolated: what === 'isolated-backup' };
      const { snapshot } = await archive({ ...request, plain: what === 'plain-backup' }, SILENT, signal);
      run.completed(snapshot.id);
      return;
    }
    case 'retention': {
      const { live } = await listEverySnapshot(repository, 'the rules remove nothing', signal);
      const plan = planForgetting(
        live.map(({ id, record, storedBy }) => ({
          ...record,
          id,
          storedBy,
          partial: record.status === 'partial',
        })),
        { ...rules, keep_last: 1 + machine.chance.below(2) },
        repository.clock.now(),
      );
      const countingOn = [...plan.kept.keys()];
      await forgetSnapshots(repository, plan.remove, 'removed by rules', signal, { countingOn });
      return;
    }
    case 'forget': {
      const { live } = await listSnapshots(repository, signal);
      const chosen = live.filter(() => machine.chance.next() < 0.5).map(({ id }) => id);
      await forgetSnapshots(repository, chosen, 'by hand', signal);
      return;
    }
    case 'retag': {
      const { live } = await listSnapshots(repository, signal);
      const chosen = live[machine.chance.below(Math.max(1, live.length))];
      if (chosen !== undefined)
        await rewriteSnapshot(repository, chosen, { tags: [...chosen.record.tags, 'kept'] }, signal);
      return;
    }
    case 'prune':
      await prune(repository, {}, SILENT_PRUNE, signal);
      return;
    case 'planned-prune':
      await executePrune(repository, await planPrune(repository, {}, signal), SILENT_PRUNE, signal);
      return;
    case 'rotate':
      await rotateKeys(repository, signal);
      return;
    case 'rekey':
      await rekey(repository, {}, SILENT_REKEY, signal);
  }
}

function requestOf(repository: Repository, machine: Machine, run: string): ArchiveRequest {
  return {
    repository,
    sources: [bytesOfText(machine.sources.root)],
    host: machine.name,
    user: 'user',
    tool: 'simulator',
    tags: [run],
    pinned: false,
    compression: { kind: 'none' },
    plain: false,
    isolated: false,
    exclude: NO_EXCLUSIONS,
    parent: 'auto',
  };
}

/** Plays whoever has taken over a machine with a write-only key: what he stores says of itself what he likes. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import type { SnapshotRecord } from '../../src/format/records.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { addKey } from '../../src/repository/keys/keys.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { commitSnapshot, type Snapshot } from '../../src/repository/snapshots.ts';
import { never, requestFor } from './engine.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

/** Within what a clock may be ahead. */
export const AHEAD_MS = 59 * 60_000;

export interface Forger {
  readonly full: Repository;
  /** Stores the source as it is now, in the name of `host`, begun in 59 minutes. @param changes of what its record says */
  store(
    source: string,
    host?: string,
    changes?: Partial<SnapshotRecord>,
    overrides?: Partial<ArchiveRequest>,
  ): Promise<Snapshot>;
}

/** Adds a write-only key to a repository that is open with a full one. */
export async function openForger(
  full: Repository,
  destination: Destination,
  label = 'web1',
): Promise<Forger> {
  const secret: Secret = { kind: 'write-only', secret: randomBytes(32) };
  const key = { secret, label, cost: { m: 64, t: 1, p: 1 } };
  const added = await addKey(full, key, never);
  return {
    full: added.repository,
    async store(source, host = hostname(), changes = {}, overrides = {}) {
      const clock = { ...systemClock, now: () => systemClock.now() + AHEAD_MS };
      const options = { clock, stateDirectory: undefined };
      const repository = await openRepository(destination, secret, options, never);
      try {
        const request = requestFor(repository, [source], { host, ...overrides });
        const { snapshot } = await archive(request, SILENT, never);
        if (Object.keys(changes).length === 0) return snapshot;
        return await commitSnapshot(repository, { ...snapshot.record, ...changes }, { live: 0 }, never);
      } finally {
        await repository.close();
      }
    },
  };
}

/** The same for a repository that lies in a directory and opens with a passphrase. */
export async function openForgerAt(directory: string, passphrase: string, label = 'web1'): Promise<Forger> {
  const destination = await openLocalDestination(directory);
  const secret: Secret = { kind: 'passphrase', text: passphrase };
  const options = { clock: systemClock, stateDirectory: undefined, allowWeakCost: true };
  return await openForger(await openRepository(destination, secret, options, never), destination, label);
}

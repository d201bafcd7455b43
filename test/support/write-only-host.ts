/** A machine that has a write-only key to an engine's repository, and a state directory of its own. */

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { archive, type ArchiveSummary } from '../../src/archiver/archive.ts';
import { SILENT, type ArchiveObserver } from '../../src/archiver/report/observer.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openCached } from '../../src/cache/open.ts';
import type { Destination } from '../../src/destination/destination.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { addKey } from '../../src/repository/keys/keys.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { never, requestFor, type Engine } from './engine.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

export interface WriteOnlyHost {
  readonly secret: Secret;
  readonly slot: string;
  readonly state: string;
  /** The repository of the engine as it is after the key was added. */
  readonly full: Repository;
  /** One run in which the repository is opened and closed, as the command does it. */
  backup(overrides?: Partial<ArchiveRequest>, options?: RunOptions): Promise<ArchiveSummary>;
  /** Opens the repository as this machine does; the caller closes it. */
  open(destination?: Destination): Promise<Repository>;
}

interface RunOptions {
  readonly observer?: Partial<ArchiveObserver>;
  readonly signal?: AbortSignal;
  readonly destination?: Destination;
}

/** Adds a write-only key. @param from the repository as last changed, when keys were added before */
export async function writeOnlyHost(
  engine: Engine,
  name: string,
  from: Repository = engine.repository,
): Promise<WriteOnlyHost> {
  const secret: Secret = { kind: 'write-only', secret: randomBytes(32) };
  const key = { secret, label: name, cost: { m: 64, t: 1, p: 1 } };
  const { repository: full, slot } = await addKey(from, key, never);
  const state = join(engine.directory, name);
  mkdirSync(state);
  const open = async (destination: Destination = engine.calls): Promise<Repository> =>
    await openRepository(destination, secret, { clock: systemClock, stateDirectory: state }, never);
  return {
    secret,
    slot,
    state,
    full,
    open,
    backup: async (overrides = {}, { observer = {}, signal = never, destination } = {}) => {
      const opened = await open(destination);
      const { repository, close } = openCached(opened, state, systemClock);
      try {
        const request = requestFor(repository, [engine.source], { host: name, ...overrides });
        return await archive(request, { ...SILENT, ...observer }, signal);
      } finally {
        close();
      }
    },
  };
}

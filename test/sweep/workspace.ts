/** Directories that a sweep works in, and the repositories it makes there. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChunkerParameters } from '../../src/codec/chunker.ts';
import type { Argon2Cost } from '../../src/codec/kdf.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { removeTree } from '../support/remove-tree.ts';
import { PASSPHRASE, type Place } from './program.ts';
import { linkedCopy } from './stored-objects.ts';

const never = new AbortController().signal;
export const WEAK_COST = { m: 64, t: 1, p: 1 };

export interface PackSizes {
  readonly packTarget: number;
  readonly segmentTarget: number;
  readonly chunker?: ChunkerParameters;
  /** WEAK_COST when absent. */
  readonly cost?: Argon2Cost;
  /** 72 hours when absent. */
  readonly graceSeconds?: number;
}

export class Workspace {
  /** On a disk: repositories, sources and copies to compare with. */
  readonly directory: string;
  /** In memory where the system has such a place: restores that are compared and removed. */
  readonly fast: string;
  #serial = 0;

  constructor(name: string) {
    this.directory = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
    this.fast = existsSync('/dev/shm')
      ? mkdtempSync(`/dev/shm/holdfast-${name}-`)
      : join(this.directory, 'fast');
    mkdirSync(this.fast, { recursive: true });
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  /** A path in memory that nothing has yet. */
  fresh(): string {
    this.#serial += 1;
    return join(this.fast, `restored-${this.#serial}`);
  }

  /** Where a repository and its machine's state will be. */
  place(name: string): Place {
    return {
      repository: this.path(`${name}.repository`),
      state: this.path(`${name}.state`),
      cache: this.path('cache'),
    };
  }

  /** A new repository with small packs, so that little data fills many. */
  async create(name: string, sizes: PackSizes): Promise<Place> {
    const place = this.place(name);
    await this.createAt(place, sizes);
    return place;
  }

  async createAt(place: Place, sizes: PackSizes): Promise<void> {
    removeTree(place.state);
    const destination = await openLocalDestination(place.repository, { create: true });
    const options = {
      clock: systemClock,
      stateDirectory: place.state,
      secrets: [{ secret: { kind: 'passphrase', text: PASSPHRASE } as const, label: 'sweep' }],
      cost: WEAK_COST,
      ...sizes,
    };
    const repository = await createRepository(destination, options, never);
    await repository.close();
  }

  /** Another place that is the same until either is changed. */
  copy(from: Place, name: string): Place {
    const place = this.place(name);
    this.drop(place);
    linkedCopy(from.repository, place.repository);
    linkedCopy(from.state, place.state);
    return place;
  }

  drop({ repository, state }: Place): void {
    removeTree(repository);
    removeTree(state);
  }

  [Symbol.dispose](): void {
    removeTree(this.directory);
    removeTree(this.fast);
  }
}

/** Opens a repository in this process, as a machine that has never seen it. */
export async function openHere({ repository }: Pick<Place, 'repository'>): Promise<Repository> {
  const destination = await openLocalDestination(repository);
  const options = { clock: systemClock, stateDirectory: undefined, allowWeakCost: true };
  return await openRepository(destination, { kind: 'passphrase', text: PASSPHRASE }, options, never);
}

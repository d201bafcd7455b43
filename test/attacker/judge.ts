/** Looks at what is really stored, hidden or not, and says whether honest hosts get back what they stored, and that alone. */
import type { ChunkIndex } from '../../src/repository/chunk-index.ts';
import { readingIndex } from './judged.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import type { Manifest } from '../simulator/source-tree.ts';
import { readFiles } from '../simulator/snapshot-files.ts';
import { latestOf, storedBy } from './judged.ts';
import { planOfRules, requireNewestKept, requireOwnParent } from './own-snapshots.ts';
import { Broken } from './promises.ts';
import { THIEF_KEY, WEB_KEY, type Host, type Run } from './scene.ts';

/** What every host backs up. */
const ROOT = '/data';

type State =
  /** It has to be there, whole. */
  | 'kept'
  /** Somebody set about forgetting it, and was told that this failed. */
  | 'in-doubt'
  | 'forgotten'
  /** The storage has taken something of it away. */
  | 'spoiled';

interface KnownRun extends Run {
  state: State;
}

export class Judge {
  readonly #runs = new Map<string, KnownRun>();
  readonly #signal = new AbortController().signal;

  constructor(runs: readonly Run[]) {
    // What the stolen key stored nobody vouches for.
    for (const [n, run] of runs.entries())
      if (run.host !== 'server') this.#runs.set(run.tag, { ...run, state: n === 0 ? 'forgotten' : 'kept' });
  }

  /** Somebody honest begins a backup: its snapshot may be stored or not. */
  began(tag: string, host: Host, manifest: Manifest): void {
    this.#runs.set(tag, { tag, host, manifest, state: 'in-doubt' });
  }

  completed(tag: string, manifest: Manifest): void {
    const run = this.#runs.get(tag);
    if (run === undefined) return;
    this.#runs.set(tag, { ...run, manifest, state: 'kept' });
  }

  forgets(tags: readonly string[], state: 'in-doubt' | 'forgotten'): void {
    for (const tag of tags) {
      const run = this.#runs.get(tag);
      if (run !== undefined && run.state !== 'spoiled') run.state = state;
    }
  }

  isKept(tag: string): boolean {
    return this.#runs.get(tag)?.state === 'kept';
  }

  /** The storage, or who owns it, has taken away or spoiled something: what is not whole now nobody else has lost. */
  async excuse(repository: Repository): Promise<void> {
    const live = await this.#live(repository);
    const index = live === undefined ? undefined : await readingIndex(repository, this.#signal);
    for (const run of this.#runs.values()) {
      if (run.state === 'spoiled') continue;
      const snapshot = live?.get(run.tag);
      const isWhole =
        snapshot !== undefined &&
        index !== undefined &&
        (await problemOf(repository, index, snapshot, run)) === undefined;
      if (!isWhole && run.state === 'kept') run.state = 'spoiled';
    }
  }

  /**
   * @param spoiled the storage has taken something away: what is forgotten may be there again
   * @throws {Broken}
   */
  async look(repository: Repository, spoiled: boolean): Promise<void> {
    const { live } = await listSnapshots(repository, this.#signal);
    const index = await readingIndex(repository, this.#signal);
    const found = new Map<string, Snapshot>();
    for (const snapshot of live) {
      const run = this.#agreed(snapshot);
      if (run === undefined) continue;
      const problem = await problemOf(repository, index, snapshot, run);
      if (problem === 'other content')
        throw new Broken(
          'only-what-was-agreed',
          `snapshot ${snapshot.id} gives back what ${run.tag} did not store`,
        );
      if (problem === undefined) found.set(run.tag, snapshot);
      else if (run.state === 'kept' && !spoiled)
        throw new Broken('nothing-lost', `snapshot ${snapshot.id} of ${run.tag} cannot be read: ${problem}`);
    }
    for (const run of this.#runs.values())
      if (run.state === 'kept' && !found.has(run.tag)) throw new Broken('nothing-lost', `${run.tag} is gone`);
    for (const host of ['admin', 'db1'] as const) {
      this.#requireLatest(live, host);
      requireOwnParent(live, host, ROOT);
    }
    requireNewestKept(live, new Set(planOfRules(live, 1, repository.clock.now()).remove));
  }

  /** Ids of live snapshots of honest hosts that cannot be read whole. */
  async lacking(repository: Repository): Promise<readonly string[]> {
    const { live } = await listSnapshots(repository, this.#signal);
    const index = await readingIndex(repository, this.#signal);
    const lacking: string[] = [];
    for (const snapshot of live) {
      const run = this.#runs.get(snapshot.record.tags[0] ?? '');
      if (run !== undefined && (await problemOf(repository, index, snapshot, run)) !== undefined)
        lacking.push(snapshot.id);
    }
    return lacking;
  }

  /** @throws {Broken} for what full keys, or an honest write-only key, are said to have stored and have not */
  #agreed(snapshot: Snapshot): KnownRun | undefined {
    const number = storedBy(snapshot);
    if (number === THIEF_KEY) return undefined;
    const run = this.#runs.get(snapshot.record.tags[0] ?? '');
    const isHost =
      run !== undefined && (number === WEB_KEY) === (run.host === 'web') && run.host !== 'server';
    if (isHost && (number === undefined || number === WEB_KEY)) return run;
    throw new Broken(
      'only-what-was-agreed',
      `snapshot ${snapshot.id} (${snapshot.record.tags.join()}) passes for one of ${number === undefined ? 'a full key' : `key ${number}`}`,
    );
  }

  #requireLatest(live: readonly Snapshot[], host: string): void {
    const own = live.filter(({ record }) => record.host === host);
    if (!own.some((one) => storedBy(one) === undefined)) return;
    const latest = latestOf(own);
    if (latest !== undefined && storedBy(latest) !== undefined)
      throw new Broken(
        'only-what-was-agreed',
        `latest of ${host} is ${latest.id}, which a write-only key stored`,
      );
  }

  async #live(repository: Repository): Promise<ReadonlyMap<string, Snapshot> | undefined> {
    const { live } = await listSnapshots(repository, this.#signal);
    return new Map(
      live.filter((one) => storedBy(one) !== THIEF_KEY).map((one) => [one.record.tags[0] ?? '', one]),
    );
  }
}

async function problemOf(
  repository: Repository,
  index: ChunkIndex,
  snapshot: Snapshot,
  { manifest }: Run,
): Promise<string | undefined> {
  let contents: ReadonlyMap<string, Buffer>;
  try {
    ({ contents } = await readFiles(repository, index, snapshot));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const same =
    contents.size === manifest.files.size &&
    [...manifest.files].every(([path, data]) => contents.get(path)?.equals(data) === true);
  return same ? undefined : 'other content';
}

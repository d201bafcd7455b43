/** What a run finds damaged in the repository: it relies on none of it, and stores it again. */
import { bytesOfText, type ByteString } from '../../base/byte-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import { holdfastElsewhere, holdfastThere } from '../../base/holdfast-command.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { isDamagedPack, markDamaged } from '../../repository/check/damaged-packs.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Tally } from '../report/tally.ts';

/** Something of the parent's trees is damaged: the run starts again without that pack. */
export class PackDamaged extends RepositoryError {
  readonly pack: string;
  /** Names of all packs of trees: with one that is damaged the parent no longer leads to the others. */
  readonly trees: readonly string[];

  constructor(pack: string, trees: readonly string[]) {
    super('CORRUPT_DATA', `pack ${pack} cannot be read as it was stored`, {
      hint: `Run: ${holdfastThere`check --read-data`}. Check the drive and the connection.`,
      details: { object: `pack ${pack}` },
    });
    this.pack = pack;
    this.trees = trees;
  }
}

export class DamagedParts {
  readonly #repository: Repository;
  /** Names of the packs that count as absent. */
  readonly packs = new Set<string>();
  /** Of those that could not be marked, which others go on relying on, the reason. */
  readonly #unmarked = new Map<string, string>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /** @throws {PackDamaged} */
  found(pack: string, { packs }: Pick<ChunkIndex, 'packs'>): never {
    throw new PackDamaged(
      pack,
      packs.filter(({ kind }) => kind === 'tree').map(({ name }) => name),
    );
  }

  /**
   * Reads the pack once more, then all of trees, and marks what is damaged. False when nothing is: then the connection has
   * spoiled what came.
   */
  async confirm({ pack, trees }: PackDamaged, signal: AbortSignal): Promise<boolean> {
    if (!(await isDamagedPack(this.#repository, pack, signal))) return false;
    const names = new Set([pack]);
    for (const name of trees)
      if (!names.has(name) && (await isDamagedPack(this.#repository, name, signal))) names.add(name);
    const { refusal } = await markDamaged(this.#repository, names, signal);
    for (const name of names) {
      this.packs.add(name);
      if (refusal !== undefined) this.#unmarked.set(name, refusal.message);
    }
    return true;
  }

  /** A pack without a mark is where readers may look first: that the snapshot is whole cannot be said. */
  tell(tally: Tally, sources: readonly ByteString[]): void {
    for (const [pack, reason] of this.#unmarked)
      tally.problem(
        sources[0] ?? bytesOfText('/'),
        'CORRUPT_DATA',
        `pack ${pack} is damaged, and cannot be marked so (${reason}): run "${holdfastElsewhere`check`}" where the repository may be changed`,
      );
  }
}

/** What whoever backs up is told of it. */
export function packsDamagedText(count: number): string {
  const packs = count === 1 ? 'A pack of the repository was' : `${count} packs of the repository were`;
  return `${packs} damaged. What this snapshot needs is stored again. Whether more is damaged tells: ${holdfastThere`check --read-data`}`;
}

/**
 * Handles damage that a run finds in the repository: the run does not rely on damaged packs, and stores their content again.
 */
import { bytesOfText, type ByteString } from '../../base/byte-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import { holdfastElsewhere, holdfastThere } from '../../base/holdfast-command.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { isDamagedPack, markDamaged } from '../../repository/check/damaged-packs.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Tally } from '../report/tally.ts';

/** Part of the parent's trees is damaged. The run starts again without that pack. */
export class PackDamaged extends RepositoryError {
  readonly pack: string;
  /** Names of all tree packs. They have to be checked too, as a damaged parent tree no longer leads to the trees below it. */
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
  /** Names of the packs to be treated as absent. */
  readonly packs = new Set<string>();
  /** Packs of `packs` that could not be marked as damaged, so that other machines go on relying on them, with the reason. */
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
   * Reads the pack once more, then all tree packs, and marks those that are damaged. False when the pack is sound: then
   * the connection had corrupted what was received.
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

  /**
   * Reports damaged packs that could not be marked: readers may still use them first, so the snapshot may not be called
   * whole.
   */
  tell(tally: Tally, sources: readonly ByteString[]): void {
    for (const [pack, reason] of this.#unmarked)
      tally.problem(
        sources[0] ?? bytesOfText('/'),
        'CORRUPT_DATA',
        `pack ${pack} is damaged, and could not be marked as damaged (${reason}): run "${holdfastElsewhere`check`}" on a machine that can change the repository`,
      );
  }
}

/** The message about them for the user. */
export function packsDamagedText(count: number): string {
  const packs = count === 1 ? 'A pack of the repository was' : `${count} packs of the repository were`;
  return `${packs} damaged. The data that this snapshot needs was stored again. To see whether more is damaged: ${holdfastThere`check --read-data`}`;
}

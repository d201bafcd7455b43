/** Restarts a backup when the repository changes during the run, or when part of it turns out to be damaged. */
import { RepositoryError } from '../base/errors.ts';
import type { ArchiveRequest } from './archive-request.ts';
import { PackDamaged, type DamagedParts } from './before/damaged-parts.ts';
import { ReliedPackGone, reliedPackGone } from './store/commit.ts';
import { TreeNotAsKnown } from './walk/walk.ts';

const ATTEMPTS = 3;

/** What a run builds on. A failure may take parts of it away from the next run. */
type Basis = Pick<ArchiveRequest, 'known' | 'parent' | 'changes'>;

/**
 * Runs `once` until it succeeds, each time without whatever the last failure showed to be missing or damaged.
 * @throws whatever `once` throws, when another run could not do without the missing part
 */
export async function untilItHolds<T>(
  request: ArchiveRequest,
  damaged: DamagedParts,
  signal: AbortSignal,
  once: (request: ArchiveRequest) => Promise<T>,
): Promise<T> {
  const attempts = new Attempts(request, damaged);
  for (;;) {
    try {
      return await once({ ...request, ...attempts.basis });
    } catch (error) {
      // The scout's observations are older than the next run's start.
      request.scout?.forget();
      await attempts.afterFailure(error, signal);
    }
  }
}

class Attempts {
  readonly #damaged: DamagedParts;
  readonly #foundByOthers = new Set<string>();
  #basis: Basis;
  #isFirst = true;
  /** Failures that count against `ATTEMPTS`. A failure that removes a damaged pack does not: it cannot recur for ever. */
  #counted = 0;

  constructor({ known, parent, changes }: Basis, damaged: DamagedParts) {
    this.#basis = { known, parent, changes };
    this.#damaged = damaged;
  }

  get basis(): Basis {
    return this.#basis;
  }

  /**
   * Takes away what the next run must not build on.
   * @throws the failure, when there is to be no next run
   */
  async afterFailure(error: unknown, signal: AbortSignal): Promise<void> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (error instanceof PackDamaged) {
      if (!(await this.#damaged.confirm(error, signal))) this.#count(error);
    } else if (error instanceof TreeNotAsKnown && this.#basis.known !== undefined) {
      this.#count();
      this.#basis = { ...this.#basis, known: undefined };
    } else if (error instanceof ReliedPackGone && error.isDamaged && this.#isNews(error)) {
      // The pack now carries a tombstone, so the next run leaves it out.
    } else if (error instanceof ReliedPackGone) {
      this.#count(reliedPackGone(error));
      this.#dropParent();
    } else if (isGone(error) && this.#mayLoseParent(isFirst)) {
      this.#count();
      this.#dropParent();
    } else throw error;
  }

  /** @throws `last`, when the attempts are used up */
  #count(last?: Error): void {
    this.#counted += 1;
    if (last !== undefined && this.#counted >= ATTEMPTS) throw last;
  }

  #isNews({ object }: ReliedPackGone): boolean {
    const isNew = !this.#foundByOthers.has(object);
    this.#foundByOthers.add(object);
    return isNew;
  }

  /**
   * A parent that is gone may be dropped, except in the first run without a change set: there a person named the
   * snapshot and should learn of the mistake. With a change set the agent chose it, by an older list of snapshots.
   */
  #mayLoseParent(isFirst: boolean): boolean {
    const { parent, changes } = this.#basis;
    return typeof parent === 'object' && (!isFirst || changes !== undefined);
  }

  /**
   * The named parent may itself be what is gone. The change set goes with it, since it tells of changes since that
   * parent only.
   */
  #dropParent(): void {
    if (typeof this.#basis.parent === 'object')
      this.#basis = { parent: 'auto', changes: undefined, known: undefined };
  }
}

function isGone(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === 'SNAPSHOT_NOT_FOUND';
}

/** What a backup does about a repository that changes under it, or turns out to be damaged: it begins again. */
import { RepositoryError } from '../base/errors.ts';
import type { ArchiveRequest } from './archive-request.ts';
import { PackDamaged, type DamagedParts } from './before/damaged-parts.ts';
import { ReliedPackGone, reliedPackGone } from './store/commit.ts';
import { TreeNotAsKnown } from './walk/walk.ts';

const ATTEMPTS = 3;

/** What one run builds on: each failure leaves less of it to the next. */
type Basis = Pick<ArchiveRequest, 'known' | 'parent' | 'changes'>;

/**
 * Runs `once` until nothing that it built on was missing in the end.
 * @throws what `once` throws, when that is nothing that another run could do without
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
      // What it saw is older than the next run's beginning.
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
  /** Those that count: a failure that leaves one thing less to rely on cannot come for ever. */
  #counted = 0;

  constructor({ known, parent, changes }: Basis, damaged: DamagedParts) {
    this.#basis = { known, parent, changes };
    this.#damaged = damaged;
  }

  get basis(): Basis {
    return this.#basis;
  }

  /** Takes away what the next run must not build on. @throws the failure, when there is to be no next run */
  async afterFailure(error: unknown, signal: AbortSignal): Promise<void> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (error instanceof PackDamaged) {
      if (!(await this.#damaged.confirm(error, signal))) this.#count(error);
    } else if (error instanceof TreeNotAsKnown && this.#basis.known !== undefined) {
      this.#count();
      this.#basis = { ...this.#basis, known: undefined };
    } else if (error instanceof ReliedPackGone && error.isDamaged && this.#isNews(error)) {
      // Others have marked it: it is left out from now on.
    } else if (error instanceof ReliedPackGone) {
      this.#count(reliedPackGone(error));
      this.#dropParent();
    } else if (isGone(error) && this.#mayLoseParent(isFirst)) {
      this.#count();
      this.#dropParent();
    } else throw error;
  }

  /** @throws what is given, after the last attempt */
  #count(last?: Error): void {
    this.#counted += 1;
    if (last !== undefined && this.#counted >= ATTEMPTS) throw last;
  }

  #isNews({ message }: ReliedPackGone): boolean {
    const isNew = !this.#foundByOthers.has(message);
    this.#foundByOthers.add(message);
    return isNew;
  }

  /** Whoever named it for the first run is to hear of a mistake; with changes the agent did, by what it saw before. */
  #mayLoseParent(isFirst: boolean): boolean {
    const { parent, changes } = this.#basis;
    return typeof parent === 'object' && (!isFirst || changes !== undefined);
  }

  /** The parent that was named may be what is gone; what has changed is told since that one alone. */
  #dropParent(): void {
    if (typeof this.#basis.parent === 'object')
      this.#basis = { parent: 'auto', changes: undefined, known: undefined };
  }
}

function isGone(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === 'SNAPSHOT_NOT_FOUND';
}

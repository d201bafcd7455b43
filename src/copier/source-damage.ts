import { RepositoryError } from '../base/errors.ts';
import { corruptBy, isLostObject } from '../repository/objects/lost-object.ts';
import { isUnending } from '../repository/contents/tree-bounds.ts';

/** What was read from the source is damaged, as opposed to errors in handling it afterwards. */
export class SourceDamage extends Error {
  override readonly name = 'SourceDamage';
  override readonly cause: RepositoryError;

  constructor(cause: RepositoryError) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * Wraps work that only reads from the source.
 * @throws {SourceDamage}
 */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLostObject(error) && !isUnending(error)) throw error;
    throw new SourceDamage(error instanceof RepositoryError ? error : corruptBy(error));
  }
}

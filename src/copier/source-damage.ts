import { RepositoryError } from '../base/errors.ts';

/** What is read of the source is damaged: as opposed to whatever goes wrong with it afterwards. */
export class SourceDamage extends Error {
  override readonly name = 'SourceDamage';
  override readonly cause: RepositoryError;

  constructor(cause: RepositoryError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** For work that reads of the source and does nothing else. @throws {SourceDamage} */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RepositoryError && error.code === 'CORRUPT_DATA') throw new SourceDamage(error);
    throw error;
  }
}

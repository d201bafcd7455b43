import { DestinationError, errnoOf } from '../../base/errors.ts';

/** When this many files in a row cannot be read, the drive is at fault and not the files. */
const TOO_MANY = 5;

/** Tells a file on a bad spot of the drive from a drive that is gone: both answer EIO. */
export class UnreadFiles {
  readonly #root: string;
  readonly #keys = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Notes that some file could be read. */
  read(): void {
    this.#keys.clear();
  }

  /** The error for damage to this object alone, while others may still be readable; undefined for any other failure. */
  damage(key: string, cause: unknown): DestinationError | undefined {
    const errno = errnoOf(cause);
    if (errno !== 'EIO') return undefined;
    this.#keys.add(key);
    if (this.#keys.size >= TOO_MANY) return undefined;
    const message = `Cannot read ${key} in ${this.#root}: the drive cannot read this file (${errno})`;
    return new DestinationError('corrupt-reply', message, {
      op: 'read',
      hint: 'Check the drive, its cable and the system log, then run a check of the repository.',
      // The drive itself has already retried for long.
      retry: 'never',
      details: { errno, directory: this.#root, key },
      cause,
    });
  }
}

import { DestinationError, errnoOf } from '../../base/errors.ts';

/** So many files that cannot be read, one after the other, are not the fault of the files. */
const TOO_MANY = 5;

/** Tells a file that lies in a bad place of the drive from a drive that is away: both answer EIO. */
export class UnreadFiles {
  readonly #root: string;
  readonly #keys = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Something could be read. */
  read(): void {
    this.#keys.clear();
  }

  /** Damage to this object, where others may still be readable; undefined for any other failure. */
  damage(key: string, cause: unknown): DestinationError | undefined {
    const errno = errnoOf(cause);
    if (errno !== 'EIO') return undefined;
    this.#keys.add(key);
    if (this.#keys.size >= TOO_MANY) return undefined;
    const message = `Cannot read ${key} in ${this.#root}: the drive cannot read this file (${errno})`;
    return new DestinationError('corrupt-reply', message, {
      op: 'read',
      hint: 'Check the drive, its cable and the system log, then run a check of the repository.',
      // The drive itself has tried for long.
      retry: 'never',
      details: { errno, directory: this.#root, key },
      cause,
    });
  }
}

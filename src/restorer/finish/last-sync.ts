import { asByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { native } from '../../system/native.ts';
import { DescriptorDirectory } from '../target/descriptor-directory.ts';
import { SYNCED_ONE_BY_ONE } from '../content/file-completer.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

const ITSELF = asByteString('.');

/**
 * What a restore does last: names, links and the metadata of directories get to the disk before anybody is told that
 * it is done. When there is little of it the directories are asked for one by one, otherwise the file systems.
 */
export class LastSync implements Disposable {
  readonly #oneByOne: boolean;
  readonly #fileSystems = new Map<bigint, DescriptorDirectory>();

  /** @param entries how many files were written, and directories changed; of few, each file has been asked for */
  constructor(entries: number) {
    this.#oneByOne = entries <= SYNCED_ONE_BY_ONE || native?.syncFileSystem === undefined;
  }

  /** Notes where a directory lies, as long as it may be opened. */
  note(directory: TargetDirectory): void {
    if (this.#oneByOne) return;
    const { dev } = directory.stat();
    if (this.#fileSystems.has(dev)) return;
    const again = directory.openDirectory(ITSELF);
    if (again instanceof DescriptorDirectory) this.#fileSystems.set(dev, again);
  }

  /** After the last change to a directory that was noted. */
  sync(directory: TargetDirectory): void {
    if (!this.#oneByOne) return;
    try {
      directory.sync();
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined || !(error instanceof Error)) throw error;
      const message = `what was restored in it may not all be on disk: ${error.message}`;
      throw Object.assign(new Error(message, { cause: error }), { code });
    }
  }

  /** A descriptor in each file system that is still to be asked for. */
  get fileSystems(): readonly number[] {
    return [...this.#fileSystems.values()].map(({ fd }) => fd);
  }

  [Symbol.dispose](): void {
    for (const directory of this.#fileSystems.values()) directory.close();
  }
}

import { asByteString } from '../../base/byte-path.ts';
import { causeText } from '../../base/errno-words.ts';
import { errnoOf } from '../../base/errors.ts';
import { native } from '../../system/native.ts';
import { DescriptorDirectory } from '../target/descriptor-directory.ts';
import { SYNCED_ONE_BY_ONE } from '../content/file-completer.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

const ITSELF = asByteString('.');

/**
 * Makes sure, as the last step of a restore, that names, links and the metadata of directories are on disk before it is
 * reported as done. If there are few changes the directories are synced one by one, otherwise the file systems.
 */
export class LastSync implements Disposable {
  readonly #oneByOne: boolean;
  readonly #fileSystems = new Map<bigint, DescriptorDirectory>();

  /**
   * @param entries how many files were written and directories changed; when these are few, each file has been synced already
   */
  constructor(entries: number) {
    this.#oneByOne = entries <= SYNCED_ONE_BY_ONE || native?.syncFileSystem === undefined;
  }

  /** Notes the file system of a directory. To be called before its final metadata may keep it from being opened. */
  note(directory: TargetDirectory): void {
    if (this.#oneByOne) return;
    const { dev } = directory.stat();
    if (this.#fileSystems.has(dev)) return;
    const again = directory.openDirectory(ITSELF);
    if (again instanceof DescriptorDirectory) this.#fileSystems.set(dev, again);
  }

  /** To be called after the last change to a noted directory. */
  sync(directory: TargetDirectory): void {
    if (!this.#oneByOne) return;
    try {
      directory.sync();
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined || !(error instanceof Error)) throw error;
      const message = `some of what was restored in it may not be on disk: ${causeText(error)}`;
      throw Object.assign(new Error(message, { cause: error }), { code });
    }
  }

  /** A descriptor in each file system that is still to be synced. */
  get fileSystems(): readonly number[] {
    return [...this.#fileSystems.values()].map(({ fd }) => fd);
  }

  [Symbol.dispose](): void {
    for (const directory of this.#fileSystems.values()) directory.close();
  }
}

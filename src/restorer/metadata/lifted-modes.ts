import { errnoOf } from '../../base/errors.ts';
import type { ByteString } from '../../base/byte-path.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import { UNFINISHED_FILE, type TargetDirectory } from '../target/target-directory.ts';
import { modeMark } from '../target/temporary-names.ts';
import { removeQuietly } from '../target/unfinished-files.ts';

const PERMISSIONS = 0o7777;
const OWNERS_RIGHTS = 0o700;

interface Lifted {
  readonly mode: number;
  /** A file in it that says so to a later restore, should this one be killed. */
  readonly mark: ByteString | undefined;
}

/**
 * Directories that stand in the target and that their owner, who restores, has closed to himself (0555, 0000): they are
 * open to him meanwhile, and get their permissions back.
 */
export class LiftedModes {
  readonly #lifted = new Map<RecordHandle, Lifted>();
  readonly #directories: OpenDirectories | undefined;
  readonly #run: string;
  readonly #uid: number;

  constructor(directories: OpenDirectories | undefined, run: string, uid: number) {
    this.#directories = directories;
    this.#run = run;
    this.#uid = uid;
  }

  /** Makes a directory that cannot even be looked at open. */
  open(parent: TargetDirectory, name: ByteString, found: EntryStat, handle: RecordHandle): void {
    const mode = found.mode & PERMISSIONS;
    if (!this.#mayLift(found) || (mode & 0o500) === 0o500) return;
    parent.setMode(name, mode | OWNERS_RIGHTS);
    this.#note(handle, mode);
  }

  /** Makes a directory one in which entries can be made. */
  makeWritable(handle: RecordHandle): void {
    const directory = this.#directories?.at(handle);
    if (directory === undefined || directory.takesEntries()) return;
    const stat = directory.stat();
    const mode = stat.mode & PERMISSIONS;
    if (!this.#mayLift(stat) || (mode & OWNERS_RIGHTS) === OWNERS_RIGHTS) return;
    directory.setOwnMode(mode | OWNERS_RIGHTS);
    this.#note(handle, mode);
  }

  /** A restore before was killed before it could give a directory its permissions back. */
  takeOver(handle: RecordHandle, { mode, mark }: { readonly mode: number; readonly mark: ByteString }): void {
    this.#lifted.set(handle, { mode, mark });
  }

  /** Before a directory gets other metadata: nothing in it says any more what it had. */
  end(handle: RecordHandle): void {
    const lifted = this.#lifted.get(handle);
    if (lifted === undefined) return;
    this.#lifted.delete(handle);
    this.#removeMark(handle, lifted);
  }

  /** Gives all that are left what they had, those that lie in others first. */
  putBack(): void {
    for (const [handle, lifted] of [...this.#lifted].toReversed()) {
      this.#lifted.delete(handle);
      this.#removeMark(handle, lifted);
      try {
        this.#directories?.at(handle).setOwnMode(lifted.mode);
      } catch (error) {
        // it may be gone, or somebody else's by now
        if (errnoOf(error) === undefined) throw error;
      }
    }
  }

  /** Root needs nothing of the kind. */
  #mayLift({ uid }: EntryStat): boolean {
    return this.#uid !== 0 && uid === this.#uid;
  }

  #note(handle: RecordHandle, mode: number): void {
    const directory = this.#directories?.at(handle);
    if (directory === undefined) return;
    // noted before the mark is made: should there be no room for it the mode is put back all the same
    this.#lifted.set(handle, { mode, mark: undefined });
    const mark = modeMark(this.#run, handle, mode);
    directory.closeFile(directory.createFile(mark, UNFINISHED_FILE));
    this.#lifted.set(handle, { mode, mark });
  }

  #removeMark(handle: RecordHandle, { mark }: Lifted): void {
    const directories = this.#directories;
    if (mark !== undefined && directories !== undefined) removeQuietly(() => directories.at(handle), mark);
  }
}

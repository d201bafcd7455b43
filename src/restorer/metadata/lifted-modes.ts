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
  /** A file in the directory that tells this to a later restore, should this one be killed. */
  readonly mark: ByteString | undefined;
}

/**
 * Lets the restoring user write to existing directories of their own whose mode forbids it (0555, 0000), and puts those
 * modes back in the end.
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

  /** Gives the owner access to a directory whose mode does not let them list or enter it. */
  open(parent: TargetDirectory, name: ByteString, found: EntryStat, handle: RecordHandle): void {
    const mode = found.mode & PERMISSIONS;
    if (!this.#mayLift(found) || (mode & 0o500) === 0o500) return;
    parent.setMode(name, mode | OWNERS_RIGHTS);
    this.#note(handle, mode);
  }

  /** Makes a directory writable. */
  makeWritable(handle: RecordHandle): void {
    const directory = this.#directories?.at(handle);
    if (directory === undefined || directory.takesEntries()) return;
    const stat = directory.stat();
    const mode = stat.mode & PERMISSIONS;
    if (!this.#mayLift(stat) || (mode & OWNERS_RIGHTS) === OWNERS_RIGHTS) return;
    directory.setOwnMode(mode | OWNERS_RIGHTS);
    this.#note(handle, mode);
  }

  /** Takes over a directory from an earlier restore, which was killed before it gave the directory its permissions back. */
  takeOver(handle: RecordHandle, { mode, mark }: { readonly mode: number; readonly mark: ByteString }): void {
    this.#lifted.set(handle, { mode, mark });
  }

  /** To be called before a directory gets its final metadata: its former permissions are forgotten, and the mark goes. */
  end(handle: RecordHandle): void {
    const lifted = this.#lifted.get(handle);
    if (lifted === undefined) return;
    this.#lifted.delete(handle);
    this.#removeMark(handle, lifted);
  }

  /** Gives all remaining directories their permissions back, the deepest first. */
  putBack(): void {
    for (const [handle, lifted] of [...this.#lifted].toReversed()) {
      this.#lifted.delete(handle);
      this.#removeMark(handle, lifted);
      try {
        this.#directories?.at(handle).setOwnMode(lifted.mode);
      } catch (error) {
        // it may be gone, or belong to another user by now
        if (errnoOf(error) === undefined) throw error;
      }
    }
  }

  /** Only for the owner of the directory; root has access in any case. */
  #mayLift({ uid }: EntryStat): boolean {
    return this.#uid !== 0 && uid === this.#uid;
  }

  #note(handle: RecordHandle, mode: number): void {
    const directory = this.#directories?.at(handle);
    if (directory === undefined) return;
    // noted before the mark is made, so that the mode is put back even if there is no room for the mark
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

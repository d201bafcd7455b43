/** What a walk works with, and how it goes from one directory to the next. */
import type { ByteString } from '../../base/byte-path.ts';
import type { DirectoryEntry, Entry } from '../../format/tree.ts';
import type { ChangeSet } from '../before/change-set.ts';
import type { ExcluderFor, RulesInside } from './entry-rules.ts';
import type { DirectoryScope } from '../../exclude/excluder.ts';
import type { FileSaver } from '../read/file-saver.ts';
import type { CleanTest, TreeNotes } from '../before/known-tree.ts';
import type { UnchangedContent } from '../before/noted-files.ts';
import type { Parent } from '../before/parent.ts';
import type { StoredDirectory } from '../store/pending-directory.ts';
import type { SourceOutcomes } from '../report/source-outcomes.ts';
import type { ListedDirectory } from '../source/stat.ts';
import type { SourceNode } from '../source/source-tree.ts';
import type { Tally } from '../report/tally.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

export interface WalkParts {
  readonly parent: Parent | undefined;
  readonly changes: ChangeSet | undefined;
  /** When set, the tally begins with the parent's counts. */
  readonly clean: CleanTest | undefined;
  /** Gathers what the next run needs to know. */
  readonly notes: TreeNotes | undefined;
  /** Names of files in the tree that hold exclude rules for everything below their directory. */
  readonly ruleFiles: ReadonlySet<ByteString>;
  readonly files: Pick<FileSaver, 'save' | 'keep'>;
  /** Where there is no parent: the content of a file that has not changed since it was noted. */
  readonly unchanged?: (path: ByteString, stat: EntryStat) => UnchangedContent | undefined;
  readonly tally: Tally;
  readonly outcomes: SourceOutcomes;
  /** A look at the directory that was taken earlier in this run, if any. */
  readonly seen: (path: ByteString) => ListedDirectory | undefined;
  /** The directory, with these names in it, is the repository that the run stores in, wherever it is seen. */
  readonly isOwnRepository: (directory: ByteString, names: readonly ByteString[]) => boolean;
  /** Directories that came in the place of files by the time that these were read: to be walked when all others were. */
  readonly later: Descent[];
  readonly storeChunk: (chunk: Buffer) => Buffer;
  readonly excluderFor: ExcluderFor;
  /** Called in every directory: reports progress and waits while the readers are behind. */
  readonly pace: (path: ByteString) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A directory on the walker's way: what is above it has been seen. */
export interface Visit {
  readonly path: ByteString;
  readonly depth: number;
  readonly old: DirectoryEntry | undefined;
  readonly oldRoot: Buffer | undefined;
  readonly stat: EntryStat | undefined;
  readonly inside: RulesInside;
  /** A file with exclude rules has changed further up: other entries than before may be left out here. */
  readonly rulesChanged: boolean;
}

/** A name in a directory, and what is known of it before it is looked at. */
export interface MetName {
  readonly name: ByteString;
  readonly path: ByteString;
  /** What the parent has by that name. */
  readonly old: Entry | undefined;
  /** Set where it is or leads to sources. */
  readonly node: SourceNode | undefined;
  /** The rules of its directory. */
  readonly scope: DirectoryScope | undefined;
  /** The parent's directory by that name, once it counts as gone: what is there by now is new. */
  readonly gone?: DirectoryEntry;
  /** How often something else has been found in its place, whatever that was: up to `MOST_LOOKS` in all. */
  readonly looks: number;
}

/** A directory that is to be walked next, and whom to tell of it. */
export interface Descent {
  readonly visit: Visit;
  readonly completed: (stored: StoredDirectory) => void;
  /** As of its name. */
  readonly looks: number;
  /**
   * Looks once more, in the directory that was listed, at what is there by its name: what was met was not when it was to be
   * walked. Undefined when that is no directory to walk, which then is settled.
   */
  readonly lookAgain: () => Descent | undefined;
  /** Tells that nothing of it can be stored: it is another one each time. */
  readonly giveUp: (failure: unknown) => void;
  /** Set when it stands as it was and may be passed over, unless a file with exclude rules has changed. */
  readonly clean: DirectoryEntry | undefined;
}

/** The tools and state of a walk, and the steps from one directory to the next. */
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
  /**
   * Tells which directories are clean; undefined when none may be passed over. When set, the tally begins with the
   * parent's counts.
   */
  readonly clean: CleanTest | undefined;
  /** Gathers what the next run needs to know. */
  readonly notes: TreeNotes | undefined;
  /** Names of files in the tree that hold exclude rules for everything below their directory. */
  readonly ruleFiles: ReadonlySet<ByteString>;
  readonly files: Pick<FileSaver, 'save' | 'keep'>;
  /** Without a parent: the content of a file that has not changed since this machine noted it. */
  readonly unchanged?: (path: ByteString, stat: EntryStat) => UnchangedContent | undefined;
  readonly tally: Tally;
  readonly outcomes: SourceOutcomes;
  /** The scout's listing of the directory, if there is one. */
  readonly seen: (path: ByteString) => ListedDirectory | undefined;
  /** Whether the directory, which has these names, is the repository of this run, by whatever path it is reached. */
  readonly isOwnRepository: (directory: ByteString, names: readonly ByteString[]) => boolean;
  /** Directories that replaced files before these were read: walked after all others. */
  readonly later: Descent[];
  readonly storeChunk: (chunk: Buffer) => Buffer;
  readonly excluderFor: ExcluderFor;
  /** Called in every directory: reports progress and waits while the readers are behind. */
  readonly pace: (path: ByteString) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A directory to visit. Its parent directories have been looked at already. */
export interface Visit {
  readonly path: ByteString;
  readonly depth: number;
  readonly old: DirectoryEntry | undefined;
  readonly oldRoot: Buffer | undefined;
  readonly stat: EntryStat | undefined;
  readonly inside: RulesInside;
  /** A rule file has changed further up, so other entries than before may be left out here. */
  readonly rulesChanged: boolean;
}

/** A name in a directory, and what is known of it before it is looked at. */
export interface MetName {
  readonly name: ByteString;
  readonly path: ByteString;
  /** The parent's entry of that name. */
  readonly old: Entry | undefined;
  /** Set if the entry is or leads to sources. */
  readonly node: SourceNode | undefined;
  /** The rules of the directory that contains it. */
  readonly scope: DirectoryScope | undefined;
  /** The parent's directory of that name, once it has been counted as gone: whatever is there now is new. */
  readonly gone?: DirectoryEntry;
  /** How often the entry has been found replaced, by whatever: `MOST_LOOKS` at most. */
  readonly looks: number;
}

/** A directory to walk next, and whom to notify about it. */
export interface Descent {
  readonly visit: Visit;
  readonly completed: (stored: StoredDirectory) => void;
  /** As in `MetName`. */
  readonly looks: number;
  /**
   * Called when the directory was replaced before it was walked. Looks again, in the directory that was listed, at what
   * has its name now. Undefined if that is not a directory to walk; the entry is then completed.
   */
  readonly lookAgain: () => Descent | undefined;
  /** Gives up on a directory that is replaced at each look: reports it and stores nothing for it. */
  readonly giveUp: (failure: unknown) => void;
  /** The parent's entry when the directory is unchanged and may be passed over, unless a rule file has changed. */
  readonly clean: DirectoryEntry | undefined;
}

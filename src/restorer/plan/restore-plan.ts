import type { ByteString } from '../../base/byte-path.ts';
import type { SharedDirectory } from '../target/abandoned-files.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { ExtraEntry } from './extra-entries.ts';
import type { LinkGroup } from './hard-links.ts';
import type { NamedEntry } from './named-entries.ts';

/** The result of the planning walk, for the later steps. */
export interface RestorePlan {
  /** Directories that get their metadata at the end, each before those below it. */
  readonly directories: readonly RecordHandle[];
  /** Files that exist in the target and have to be compared. */
  readonly compare: readonly RecordHandle[];
  /** Files whose name a directory has in the target. */
  readonly clearing: readonly RecordHandle[];
  readonly named: readonly NamedEntry[];
  /** Files with several names. */
  readonly groups: readonly LinkGroup[];
  /** Entries of restored directories that the snapshot does not have. */
  readonly extra: readonly ExtraEntry[];
  /** Directories in which another restore is at work, or a killed one has not ended yet. */
  readonly shared: readonly SharedDirectory[];
  /** Marks of unfinished entries, by record. The mark lies in the entry's directory. */
  readonly marks: ReadonlyMap<RecordHandle, ByteString>;
  /** Records of `marks` that are files. */
  readonly markedFiles: ReadonlySet<RecordHandle>;
  /** Created entries inherit access lists from directories that existed before. */
  readonly inheritsAcls: boolean;
  /** The selection matched nothing that could be read. */
  readonly isEmpty: boolean;
}

import type { ByteString } from '../../base/byte-path.ts';
import type { SharedDirectory } from '../target/abandoned-files.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { ExtraEntry } from './extra-entries.ts';
import type { LinkGroup } from './hard-links.ts';
import type { NamedEntry } from './named-entries.ts';

/** What the walk finds out and the later steps carry out. */
export interface RestorePlan {
  /** Those that get their metadata at the end, parents before what is in them. */
  readonly directories: readonly RecordHandle[];
  /** Files that stand in the target and have to be compared. */
  readonly compare: readonly RecordHandle[];
  /** Files in whose place a directory stands. */
  readonly clearing: readonly RecordHandle[];
  readonly named: readonly NamedEntry[];
  /** Files with several names. */
  readonly groups: readonly LinkGroup[];
  /** Entries of restored directories that the snapshot does not have. */
  readonly extra: readonly ExtraEntry[];
  /** Directories in which another restore is at work, or is being killed. */
  readonly shared: readonly SharedDirectory[];
  /** Marks of what is not finished, in the directories where the entries of these records lie. */
  readonly marks: ReadonlyMap<RecordHandle, ByteString>;
  /** Those of them that are files. */
  readonly markedFiles: ReadonlySet<RecordHandle>;
  /** Created entries inherit access lists. */
  readonly inheritsAcls: boolean;
  /** Nothing that could be read was asked for. */
  readonly isEmpty: boolean;
}

/** The request for one run of the archiver. */
import type { ByteString } from '../base/byte-path.ts';
import type { SourceName } from '../base/source-names.ts';
import type { Compression } from '../codec/compress.ts';
import type { Repository } from '../repository/repository.ts';
import type { ChangeSet } from './before/change-set.ts';
import type { ExcludeOptions } from '../exclude/excluder.ts';
import type { ParentChoice } from './before/parent.ts';
import type { KnownTree } from './before/known-tree.ts';
import type { Scout } from './source/scout.ts';

export interface ArchiveRequest {
  readonly repository: Repository;
  /** Absolute, normalised paths. */
  readonly sources: readonly ByteString[];
  /** The names that the user gave for sources that are stored under another path. */
  readonly named?: readonly SourceName[] | undefined;
  readonly host: string;
  readonly user: string;
  readonly tool: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly compression: Compression;
  /** Store in the plain namespace, without encryption. */
  readonly plain: boolean;
  /** Share chunks with no other snapshot. */
  readonly isolated: boolean;
  readonly exclude: ExcludeOptions;
  readonly parent: ParentChoice;
  readonly changes?: ChangeSet | undefined;
  /** Note what the next run of the same sources in this process can use. */
  readonly learn?: boolean;
  /** What the run that made the parent learned. Together with `changes` it lets the walk pass over clean directories. */
  readonly known?: KnownTree | undefined;
  readonly workers?: number | undefined;
  /** Looked at the sources ahead of the walk, while the repository was being opened. */
  readonly scout?: Scout | undefined;
}

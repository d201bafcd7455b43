/** What a run of the archiver is asked for. */
import type { ByteString } from '../base/byte-path.ts';
import type { SourceName } from '../base/source-names.ts';
import type { Compression } from '../codec/compress.ts';
import type { Repository } from '../repository/repository.ts';
import type { ChangeSet } from './before/change-set.ts';
import type { ExcludeOptions } from '../exclude/excluder.ts';
import type { ParentChoice } from './before/find-parent.ts';
import type { KnownTree } from './before/known-tree.ts';
import type { Scout } from './source/scout.ts';

export interface ArchiveRequest {
  readonly repository: Repository;
  /** Absolute, normalised paths. */
  readonly sources: readonly ByteString[];
  /** How those were called that were named by another path. */
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
  /** What the run that made the parent learned: with `changes`, what is clean is passed over. */
  readonly known?: KnownTree | undefined;
  readonly workers?: number | undefined;
  /** Has looked at the sources while the repository was being opened. */
  readonly scout?: Scout | undefined;
}

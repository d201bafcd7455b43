/**
 * Finds files that have not changed since this machine last read them. A machine with a write-only key needs this, as
 * it has no parent to compare with.
 */
import type { ByteString } from '../../base/byte-path.ts';
import type { Namespace } from '../../codec/keys.ts';
import type { FileEntry } from '../../format/tree.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import type { ChunkTable } from '../../repository/packs/chunk-table.ts';
import { FileDigests, type NotedContent } from '../../repository/ledger.ts';
import type { Repository } from '../../repository/repository.ts';
import { type CtimeTrust, type IsSettled, settledBefore } from './ctime-trust.ts';
import { storedNumber } from '../../format/stored-number.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** Turns the chunk ids of a file into the content field of its entry. */
export type ContentOf = (ids: Buffer) => { content: Buffer; indirect: boolean };

const ID = 24;
/**
 * Files with more ids (larger than some 300 GB) are not noted, as their notes would crowd out others: every run reads them.
 */
const MOST_IDS = 1_000_000;

/** Undefined unless the key is write-only: every other run has a parent. */
export function notedFiles(
  repository: Repository,
  { table }: ChunkIndex,
  {
    namespace,
    startedMs,
    ctimes,
  }: {
    readonly namespace: Namespace;
    readonly startedMs: number;
    readonly ctimes: Pick<CtimeTrust, 'vouchesFor'>;
  },
): NotedFiles | undefined {
  if (!repository.isWriteOnly) return undefined;
  const idKey = repository.keys.idKey('data', namespace);
  return new NotedFiles(repository, table, idKey, { startedMs, ctimes });
}

export type UnchangedContent = Pick<FileEntry, 'content' | 'indirect' | 'holes'>;

export class NotedFiles {
  readonly #repository: Repository;
  readonly #table: ChunkTable;
  readonly #digests: FileDigests;
  readonly #isSettled: IsSettled;
  readonly #ctimes: Pick<CtimeTrust, 'vouchesFor'>;

  /** @param startedMs when the run began: files that may have changed since then without a trace are not noted */
  constructor(
    repository: Repository,
    table: ChunkTable,
    idKey: Buffer,
    { startedMs, ctimes }: { readonly startedMs: number; readonly ctimes: Pick<CtimeTrust, 'vouchesFor'> },
  ) {
    this.#repository = repository;
    this.#table = table;
    this.#digests = new FileDigests(idKey);
    this.#isSettled = settledBefore(startedMs);
    this.#ctimes = ctimes;
  }

  /**
   * The content of a file that is unchanged since it was noted; undefined if any chunk of it is not stored any more.
   * @param contentOf stores the lists of a large file again
   */
  unchanged(path: ByteString, stat: EntryStat, contentOf: ContentOf): UnchangedContent | undefined {
    const noted = this.#repository.ledger.content(this.#digestOf(path, stat));
    if (noted === undefined || !this.#ctimes.vouchesFor(path, stat)) return undefined;
    const { ids, holes } = noted;
    for (let at = 0; at < ids.length; at += ID) if (this.#table.slotOf(ids, at) < 0) return undefined;
    // All chunks are known. Claiming them makes the run rely on their packs, which it checks again before it commits.
    for (let at = 0; at < ids.length; at += ID) this.#table.claim(ids.subarray(at, at + ID));
    return { ...contentOf(ids), holes: holes.length === 0 ? undefined : holes };
  }

  /** To be called for every file that was read and did not change meanwhile. */
  readonly note = (path: ByteString, stat: EntryStat, content: NotedContent): void => {
    if (!this.#isSettled(stat.ctimeNs) || content.ids.length > MOST_IDS * ID) return;
    this.#repository.ledger.noteContent(this.#digestOf(path, stat), content);
  };

  #digestOf(path: ByteString, { size, mtimeNs, ctimeNs, ino, nlink, dev }: EntryStat): Buffer {
    const facts = [size, mtimeNs, ctimeNs, storedNumber(ino), nlink];
    // A file with several names is read by only one of them, so it is identified by device and inode. Other files are
    // identified by path, without the device: its number may change when the machine restarts.
    return nlink > 1 ? this.#digests.of('', [...facts, dev]) : this.#digests.of(path, facts);
  }
}

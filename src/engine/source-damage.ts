/**
 * Looks for files of a source that could be read before and look encrypted now, and for folders that lost most of their
 * files: damage that is small beside the whole source.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { textWithBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { fsPath } from '../base/tree-path.ts';
import { ContentReader } from '../browse/cat.ts';
import { diffSnapshots } from '../browse/diff.ts';
import { lookUpPath } from '../browse/locate.ts';
import { isDamage, SnapshotTrees } from '../browse/snapshot-trees.ts';
import type { FileEntry } from '../format/tree.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import type { Repository } from '../repository/repository.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { FolderChanges, type FolderChange } from './folder-changes.ts';
import { HEAD_BYTES, looksEncrypted } from './looks-encrypted.ts';
import type { FolderDamage, SourceDamage } from './protocol.ts';

/** Folders with less damage are not reported. */
export const LEAST_DAMAGED = 20;
/** Losses of a folder that are reported, as files are deleted on purpose all the time. */
const LEAST_LOST = 100;
/** Reported folders, those with the most damage. */
const MOST_FOLDERS = 50;

export interface ComparedSnapshots {
  readonly repository: Repository;
  readonly index: ChunkIndex;
  readonly before: Snapshot;
  readonly made: Snapshot;
}

export async function damageSince(
  { repository, index, before, made }: ComparedSnapshots,
  signal: AbortSignal,
): Promise<Omit<SourceDamage, 'isNew'>> {
  const trees = new SnapshotTrees(repository, index);
  const [left, right] = [sourceOf(before), sourceOf(made)];
  const changes = new FolderChanges(right, LEAST_DAMAGED, lookAtSource);
  const sides = [
    { snapshot: before, path: left },
    { snapshot: made, path: right },
  ] as const;
  for await (const change of diffSnapshots(trees, ...sides, { directoryTimes: false }, signal))
    changes.take(change);
  const found = changes.finish();
  const readable = new ReadableBefore(new ContentReader(repository, index, before.record), signal);
  const filesIn = async ({ path, depth }: FolderChange): Promise<number> => {
    if (depth === 0) return before.record.counts.files;
    const place = (left + path.slice(right.length)) as ByteString;
    const there = await lookUpPath(trees.reader(before), before, place, signal);
    return 'entry' in there && there.entry?.type === 'directory' ? there.entry.totals.files : 0;
  };
  let whole = 0;
  const encrypted: FolderDamage[] = [];
  const lost: FolderDamage[] = [];
  for (const folder of worst(found)) {
    const files =
      folder.encrypted < LEAST_DAMAGED
        ? 0
        : Math.round(folder.encrypted * (await readable.share(folder.earlier)));
    if (folder.depth === 0) whole = files;
    // What was moved within the source is not lost.
    const gone = folder.depth === 1 ? folder.gone - changes.added : 0;
    if (files < LEAST_DAMAGED && gone < LEAST_LOST) continue;
    const about = { path: nameIn(folder.path, right), filesBefore: await filesIn(folder) };
    if (files >= LEAST_DAMAGED) encrypted.push({ ...about, files });
    if (gone >= LEAST_LOST) lost.push({ ...about, files: gone });
  }
  return { encrypted: whole, folders: encrypted, lost };
}

/** How many files folders directly in the source have in a snapshot; 0 for one that is not there. */
export async function filesInFolders(
  { repository, index, made }: Omit<ComparedSnapshots, 'before'>,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const reader = new SnapshotTrees(repository, index).reader(made);
  const counts: Record<string, number> = Object.fromEntries(folders.map((folder) => [folder, 0]));
  const source = await lookUpPath(reader, made, sourceOf(made), signal);
  if ('nearest' in source || source.tree === undefined) return counts;
  for await (const leaf of reader.leaves(source.tree, signal))
    for (const entry of leaf) {
      const name = textWithBytes(entry.name);
      if (entry.type === 'directory' && name in counts) counts[name] = entry.totals.files;
    }
  return counts;
}

/** The source, and the folders with the most damage. */
function worst(found: readonly FolderChange[]): readonly FolderChange[] {
  const most = ({ encrypted, gone }: FolderChange): number => Math.max(encrypted, gone);
  const [source, ...folders] = found;
  return [
    ...(source === undefined ? [] : [source]),
    ...folders.toSorted((a, b) => most(b) - most(a)).slice(0, MOST_FOLDERS),
  ];
}

function sourceOf({ record }: Snapshot): ByteString {
  return record.paths[0] ?? ('/' as ByteString);
}

/** Relative to the source; empty for the source itself. */
function nameIn(path: ByteString, source: ByteString): string {
  const below = path.slice(source.length);
  return textWithBytes((below.startsWith('/') ? below.slice(1) : below) as ByteString);
}

/** Opens without waiting for the other end of a pipe that has taken the place of the file. */
const TO_LOOK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The source is read rather than the snapshot, which may be far away. Undefined where the file has changed again. */
function lookAtSource(path: ByteString, { size }: FileEntry): boolean | undefined {
  try {
    const file = openSync(fsPath(path), TO_LOOK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size !== size) return undefined;
      const head = Buffer.alloc(Math.min(HEAD_BYTES, size));
      return looksEncrypted(head.subarray(0, readSync(file, head, 0, head.length, 0)));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Whether earlier versions could be read. Each is fetched once, as folders share them with those above. */
class ReadableBefore {
  readonly #reader: ContentReader;
  readonly #signal: AbortSignal;
  readonly #known = new Map<FileEntry, boolean | undefined>();

  constructor(reader: ContentReader, signal: AbortSignal) {
    this.#reader = reader;
    this.#signal = signal;
  }

  /** The share of these files that did not look encrypted; 0 where none can be told. */
  async share(entries: readonly FileEntry[]): Promise<number> {
    const told: boolean[] = [];
    for (const entry of entries) {
      if (!this.#known.has(entry)) this.#known.set(entry, await this.#look(entry));
      const looked = this.#known.get(entry);
      if (looked !== undefined) told.push(!looked);
    }
    return told.length === 0 ? 0 : told.filter(Boolean).length / told.length;
  }

  async #look(entry: FileEntry): Promise<boolean | undefined> {
    const parts: Buffer[] = [];
    try {
      for await (const part of this.#reader.read(entry, { offset: 0, length: HEAD_BYTES }, this.#signal))
        parts.push(Buffer.from(part));
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
    return looksEncrypted(Buffer.concat(parts));
  }
}

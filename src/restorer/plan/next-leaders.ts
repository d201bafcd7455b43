import type { ContentPlan } from '../content/content-plan.ts';
import {
  RECORD,
  type EntryRecord,
  type EntryRecordWriter,
  type RecordHandle,
} from '../target/entry-records.ts';
import type { HardLink, LinkGroup } from './hard-links.ts';
import { keptOwner, type MetadataPolicy } from '../metadata/metadata.ts';

/** Failures that do not depend on the name or directory: the file would fail under its other names as well. */
const OF_THE_FILE: ReadonlySet<string> = new Set(['CORRUPT_DATA', 'LIMIT_EXCEEDED', 'EFBIG']);

export interface LeaderParts {
  readonly records: EntryRecordWriter;
  readonly content: ContentPlan;
  readonly policy: MetadataPolicy;
  /** Files that failed, with the error code. */
  readonly failed: ReadonlyMap<RecordHandle, string>;
}

/**
 * Gives the content of a file to its next name if it could not be made under the name that was to have it.
 * @returns how many files get another attempt
 */
export function planNextLeaders(groups: readonly LinkGroup[], parts: LeaderParts): number {
  let planned = 0;
  for (const group of groups) {
    const why = group.leader === undefined ? undefined : parts.failed.get(group.leader);
    if (group.leader === undefined || why === undefined || OF_THE_FILE.has(why)) continue;
    const next = group.links.shift();
    if (next === undefined) continue;
    group.leader = planLeader(parts.records.records.at(group.leader), next, parts);
    planned += 1;
  }
  return planned;
}

/** All names of a file have the same content and metadata, so the pieces of the failed record are reused. */
function planLeader(
  before: EntryRecord,
  { parent, name, standing }: HardLink,
  { records, content, policy }: LeaderParts,
): RecordHandle {
  const { pieceCount } = before;
  const pieces = Array.from({ length: pieceCount }, (_, i) => before.piece(i));
  const segments = new Set(pieces.map(({ segment }) => segment));
  const [only] = segments;
  const flags =
    RECORD.leader |
    (before.flags & RECORD.sized) |
    (standing === 'create' ? 0 : RECORD.replace) |
    (standing === 'clear' ? RECORD.clears : 0) |
    (standing === 'create' || standing === 'clear' ? 0 : keptOwner(policy)) |
    (segments.size > 1 ? RECORD.spread : 0);
  const record = records.addLike(before, parent, name, flags);
  for (const [i, piece] of pieces.entries()) record.setPiece(i, piece.id, 0, piece);
  if (only === undefined) content.addPlain(record.handle);
  else if (segments.size === 1) content.addWhole(record.handle, only);
  else {
    const { words, index } = record.remaining;
    words[index] = pieceCount;
    for (const [i, { segment }] of pieces.entries()) content.addPart(record.handle, i, segment);
  }
  return record.handle;
}

import type { ContentPlan } from './content-plan.ts';
import { RECORD, type EntryRecord, type EntryRecords, type RecordHandle } from './entry-records.ts';

/** Plans what the comparison found missing from files that stand in the target. */
export function assignCompared(
  files: readonly RecordHandle[],
  {
    records,
    content,
    failed,
  }: { records: EntryRecords; content: ContentPlan; failed: ReadonlySet<RecordHandle> },
): void {
  for (const handle of files) {
    if (failed.has(handle)) continue;
    const record = records.at(handle);
    if (record.has(RECORD.replace)) assignWhole(record, content);
    else assignMissing(record, content);
  }
}

/** A file that is made anew after all. */
function assignWhole(record: EntryRecord, content: ContentPlan): void {
  const count = record.pieceCount;
  const first = count === 0 ? undefined : record.piece(0).segment;
  if (first === undefined) {
    content.addPlain(record.handle);
    return;
  }
  let oneSegment = true;
  for (let i = 1; i < count; i += 1) oneSegment &&= record.piece(i).segment === first;
  if (oneSegment) {
    content.addWhole(record.handle, first);
    return;
  }
  record.flags |= RECORD.spread;
  assignMissing(record, content);
}

function assignMissing(record: EntryRecord, content: ContentPlan): void {
  const { words, index } = record.remaining;
  const count = record.pieceCount;
  let missing = 0;
  for (let i = 0; i < count; i += 1) {
    if (record.isPresent(i)) continue;
    missing += 1;
    content.addPart(record.handle, i, record.piece(i).segment);
  }
  words[index] = missing;
  if (missing === 0) content.addPlain(record.handle);
}

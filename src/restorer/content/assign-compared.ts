import type { ContentPlan } from './content-plan.ts';
import { RECORD, type EntryRecord, type EntryRecords, type RecordHandle } from '../target/entry-records.ts';

/** Plans the pieces that the comparison found missing from existing files. */
export function assignCompared(
  files: readonly RecordHandle[],
  {
    records,
    content,
    failed,
  }: { records: EntryRecords; content: ContentPlan; failed: ReadonlyMap<RecordHandle, string> },
): void {
  for (const handle of files) {
    if (failed.has(handle)) continue;
    assignMissing(records.at(handle), content);
  }
}

function assignMissing(record: EntryRecord, content: ContentPlan): void {
  const missing: number[] = [];
  const segments = new Set<number>();
  const count = record.pieceCount;
  for (let i = 0; i < count; i += 1) {
    if (record.isPresent(i)) continue;
    missing.push(i);
    segments.add(record.piece(i).segment);
  }
  const [only] = segments;
  if (only === undefined) {
    content.addPlain(record.handle);
    return;
  }
  if (segments.size === 1) {
    content.addWhole(record.handle, only);
    return;
  }
  record.flags |= RECORD.spread;
  const { words, index } = record.remaining;
  words[index] = missing.length;
  for (const i of missing) content.addPart(record.handle, i, record.piece(i).segment);
}

/** What a snapshot's record counts for, by who stored it. */
import { isJobTag } from '../base/job-tag.ts';
import { FULL_KEYS, UNKNOWN_MARK, type StoredBy } from '../base/stored-by.ts';
import { writeOnlyMark } from '../codec/write-only.ts';
import type { Keyring } from '../format/keyring.ts';
import type { SnapshotRecord } from '../format/records.ts';

/** @param salt of the snapshot: it is another one for each key and repository, and stays in copies */
export function storedByKey(keyring: Keyring, number: number, salt: Buffer | undefined): StoredBy {
  const isForeign = salt?.equals(writeOnlyMark(keyring.repository, number).salt) !== true;
  const known = isForeign ? undefined : keyring.writeOnly?.keys.find((key) => key.number === number);
  return {
    kind: 'write-only-key',
    number,
    mark: salt?.toString('hex', 0, 4) ?? UNKNOWN_MARK,
    label: known?.label ?? null,
    isForeign,
  };
}

/** Of a snapshot that is stored with this keyring. */
export function storedWith(keyring: Keyring, { writeOnly, salt }: SnapshotRecord): StoredBy {
  const number = keyring.grantedTo ?? writeOnly?.number;
  return number === undefined ? FULL_KEYS : storedByKey(keyring, number, salt);
}

/**
 * Whoever has a write-only key says what is in here: never that it stands for another snapshot, that others have stored
 * it, what it was compared with, or which job of an agent made it.
 */
export function asToldByWriteOnlyKey(record: SnapshotRecord): SnapshotRecord {
  return {
    ...withoutJob(record),
    run: undefined,
    original: undefined,
    parent: undefined,
    writeOnly: undefined,
  };
}

/** No agent makes what a write-only key stores. */
export function withoutJob(record: SnapshotRecord): SnapshotRecord {
  return { ...record, tags: record.tags.filter((tag) => !isJobTag(tag)) };
}

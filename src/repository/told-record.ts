/** Decides which statements of a snapshot's record are believed, by the key that stored it. */
import { isJobTag } from '../base/job-tag.ts';
import { FULL_KEYS, UNKNOWN_MARK, type StoredBy } from '../base/stored-by.ts';
import { writeOnlyMark } from '../codec/write-only.ts';
import type { Keyring } from '../format/keyring.ts';
import type { SnapshotRecord } from '../format/records.ts';

/**
 * Describes the write-only key with this number. @param salt the snapshot's salt, which differs for each key and
 * repository and stays in copies; it shows whether the key belongs to this repository
 */
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

/** Which key stores a snapshot that is stored with this keyring. */
export function storedWith(keyring: Keyring, { writeOnly, salt }: SnapshotRecord): StoredBy {
  const number = keyring.grantedTo ?? writeOnly?.number;
  return number === undefined ? FULL_KEYS : storedByKey(keyring, number, salt);
}

/**
 * The record of a snapshot that a write-only key sealed, without the fields that its holder could forge: that it stands
 * for another snapshot, that others have stored it, what it was compared with, and which job of an agent made it.
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

/** The record without job tags, which prove nothing in a snapshot that a write-only key stored. */
export function withoutJob(record: SnapshotRecord): SnapshotRecord {
  return { ...record, tags: record.tags.filter((tag) => !isJobTag(tag)) };
}

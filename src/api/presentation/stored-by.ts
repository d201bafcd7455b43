import { isFull, storeKey, type StoredBy as Stored } from '../../base/stored-by.ts';
import type { StoredBy } from '../schemas/values.ts';

export function presentStoredBy(by: Stored): StoredBy {
  return {
    key: storeKey(by),
    write_only_key: isFull(by) ? null : by.number,
    label: isFull(by) ? null : by.label,
  };
}

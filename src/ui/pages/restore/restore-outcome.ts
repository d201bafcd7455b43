import type { Restore } from '../../../api/schemas/restore.ts';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';

type Counts = Pick<Restore, 'files_restored' | 'files_failed' | 'warnings_count'>;

/** The result of a completed restore. How many files a directory had that could not be read is unknown. */
export function outcomeOf({
  files_restored: restored,
  files_failed: failed,
  warnings_count: warnings,
}: Counts): string {
  if (failed > 0) return t.restore.someFailed(failed, formatCount(failed));
  return warnings > 0 ? t.restore.notAll : t.restore.allGood(restored, formatCount(restored));
}

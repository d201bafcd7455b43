import type { Restore } from '../../../api/schemas/restore.ts';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';

type Counts = Pick<Restore, 'files_restored' | 'files_failed' | 'warnings_count'>;

/** What came of a restore that was done. Of a directory that could not be read nobody knows how many files it had. */
export function outcomeOf({
  files_restored: restored,
  files_failed: failed,
  warnings_count: warnings,
}: Counts): string {
  if (failed > 0) return t.restore.someFailed(failed, formatCount(failed));
  return warnings > 0 ? t.restore.notAll : t.restore.allGood(restored, formatCount(restored));
}

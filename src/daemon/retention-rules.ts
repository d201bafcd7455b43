/** The retention settings as a prune is told them, with what alarms freeze. */
import type { RetentionSettings } from '../config/settings.ts';
import type { RetentionRules } from '../repository/forgetting.ts';
import type { Alarms } from './alarm-book.ts';

export function retentionRules(
  { keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly, keepWithin }: RetentionSettings,
  alarms: Pick<Alarms, 'freezes'>,
): RetentionRules {
  return {
    keep_last: keepLast,
    keep_hourly: keepHourly,
    keep_daily: keepDaily,
    keep_weekly: keepWeekly,
    keep_monthly: keepMonthly,
    keep_yearly: keepYearly,
    keep_within: keepWithin,
    frozen: alarms.freezes(),
  };
}

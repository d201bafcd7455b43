/** The retention rules for a prune: the settings, and what alarms freeze. */
import type { Settings } from '../../config/settings.ts';
import type { RetentionRules } from '../../repository/retention/forgetting.ts';
import type { Alarms } from '../alarms/alarm-book.ts';

export function retentionRules(
  { retention, timeZone }: Pick<Settings, 'retention' | 'timeZone'>,
  alarms: Pick<Alarms, 'freezes'>,
): RetentionRules {
  return {
    keep_last: retention.keepLast,
    keep_hourly: retention.keepHourly,
    keep_daily: retention.keepDaily,
    keep_weekly: retention.keepWeekly,
    keep_monthly: retention.keepMonthly,
    keep_yearly: retention.keepYearly,
    keep_within: retention.keepWithin,
    time_zone: timeZone,
    frozen: alarms.freezes(),
  };
}

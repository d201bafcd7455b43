/** Days of the calendar in the reader's time zone. Times are milliseconds since 1970. */

/** The beginning of the day of `at`. */
export function midnight(at: number): number {
  const time = new Date(at);
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}

/** 0 for today, 1 for yesterday, -1 for tomorrow. Days of 23 and of 25 hours count as days. */
export function daysBefore(at: number, nowMs: number): number {
  return Math.round((midnight(nowMs) - midnight(at)) / 86_400_000);
}

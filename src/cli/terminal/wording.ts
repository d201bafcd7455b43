/** Counts and times in words. */

/** A whole number as `12,345`. Intl is not used: its formatter takes longer to make than many commands take to run. */
export function thousands(amount: number): string {
  return String(amount).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 file`, `12,345 files`. */
export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${thousands(amount)} ${amount === 1 ? noun : plural}`;
}

/** Local time to the minute: `2026-11-21 13:05`. */
export function localTime(ms: number): string {
  const time = new Date(ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** An id as shown to people: eight digits are enough to tell thousands apart. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Seconds for JSON, to the millisecond. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

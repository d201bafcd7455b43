/** Times in the format of the API: RFC 3339 in UTC with milliseconds. */

/** The first and last millisecond that RFC 3339 can express. */
const EARLIEST_MS = -62_167_219_200_000;
const LATEST_MS = 253_402_300_799_999;

/**
 * Formats milliseconds since 1970. The time of a file can be any number: one outside the years with four digits becomes
 * the nearest time within them.
 */
export function timestamp(ms: number): string {
  const known = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS);
  return new Date(known).toISOString();
}

export function maybeTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

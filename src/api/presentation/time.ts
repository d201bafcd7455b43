/** Times as the API writes them: RFC 3339 in UTC with milliseconds. */

/** The years that RFC 3339 can write. */
const EARLIEST_MS = -62_167_219_200_000;
const LATEST_MS = 253_402_300_799_999;

/** Of milliseconds since 1970. A file's time can be any number: what no year of four digits holds becomes the nearest one. */
export function timestamp(ms: number): string {
  const known = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS);
  return new Date(known).toISOString();
}

export function maybeTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

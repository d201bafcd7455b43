/** Single values as the API shows them: times, destinations without their secrets, and who stored a snapshot. */
import { isFull, type StoredBy as Stored, storeKey } from '../../base/stored-by.ts';
import type { StoredBy } from '../schemas/values.ts';

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

/** Query parameters that say where something is. Any other may be a secret. */
const SHOWN_PARAMETERS = new Set(['endpoint', 'region', 'path_style', 'account']);

/**
 * Shows destinations without their secrets. Returns the name of a destination unchanged; of a URL, everything except
 * the password and unknown parameters.
 */
export function shownDestination(destination: string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?/i.exec(destination);
  if (match === null) return destination;
  const [, scheme = '', account, rest = '', query] = match;
  const user = account?.split(':')[0] ?? '';
  const shown = (query ?? '')
    .split('&')
    .filter((parameter) => SHOWN_PARAMETERS.has(parameter.split('=')[0] ?? ''))
    .join('&');
  return `${scheme}${user === '' ? '' : `${user}@`}${rest}${shown === '' ? '' : `?${shown}`}`;
}

export function presentStoredBy(by: Stored): StoredBy {
  return {
    key: storeKey(by),
    write_only_key: isFull(by) ? null : by.number,
    label: isFull(by) ? null : by.label,
  };
}

/**
 * Names of the folder's two upper levels, for sources and times. People read and type them, so they contain only what
 * every system accepts in file names. No two sources have the same name.
 */
import { createHash } from 'node:crypto';
import { FULL_KEYS, isFull, type StoredBy } from '../../base/stored-by.ts';
import { isUtf8, textOfBytes, type ByteString } from '../../base/byte-path.ts';

/**
 * Characters before the hash that distinguishes similar names. File names may have 255 bytes, and a character takes up
 * to three of them.
 */
const MOST_CHARACTERS = 80;

/**
 * Characters that some system forbids in file names, invisible characters, and the four with a meaning here: `+`
 * between names of a path, `,` between paths, `@` before a host and `~` before a hash.
 */
const RESERVED = /[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|+,@~]/gu;

/**
 * Names the folder of a source: `/home/ana` becomes `home+ana`, or `home+ana@desk` for another host. When characters
 * were replaced or cut, so that other sources could get the same name, a part of a hash of the source is appended.
 * Snapshots stored with a write-only key never share a name with this machine's own: `home+ana@desk@key3-1a2b3c4d`.
 * @param host undefined for this machine, and only for snapshots stored with full keys
 */
export function sourceFolderName(
  paths: readonly ByteString[],
  host: string | undefined,
  storedBy: StoredBy = FULL_KEYS,
): string {
  const whole = paths.map((path) => namesOf(path).map(visible).join('+') || '+').join(',');
  const ofKey = isFull(storedBy) ? '' : `@key${storedBy.number}-${storedBy.mark}`;
  const place = host === undefined ? whole : `${whole}@${visible(host)}`;
  const named = `${place}${ofKey}`;
  const isExact =
    paths.length === 1 &&
    paths.every(isPlain) &&
    (host === undefined || isVisible(host)) &&
    named.length <= MOST_CHARACTERS &&
    !/[ .]$/.test(named);
  if (isExact) return named;
  const facts = [host ?? null, ...(isFull(storedBy) ? [] : [ofKey]), ...paths];
  const hash = createHash('sha256').update(JSON.stringify(facts));
  const start = place.slice(0, MOST_CHARACTERS - ofKey.length).replace(/\p{Cs}$/u, '');
  return `${start}${ofKey}~${hash.digest('hex').slice(0, 8)}`;
}

/** Whether the path can be recovered from its names as they are shown. */
function isPlain(path: ByteString): boolean {
  const names = namesOf(path);
  return isUtf8(path) && textOfBytes(path) === `/${names.join('/')}` && names.every(isVisible);
}

function isVisible(name: string): boolean {
  return visible(name) === name;
}

function namesOf(path: ByteString): readonly string[] {
  return textOfBytes(path)
    .split('/')
    .filter((name) => name !== '');
}

function visible(name: string): string {
  return name.replaceAll(RESERVED, '_');
}

/** Formats local times as names that sort by time: `2026-11-22_10-15-00`. */
export function timeNames(timeZone: string | null): (ms: number) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === null ? {} : { timeZone }),
  });
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const join = (between: string, ...types: readonly Intl.DateTimeFormatPartTypes[]): string =>
      types.map((type) => parts.get(type) ?? '').join(between);
    return `${join('-', 'year', 'month', 'day')}_${join('-', 'hour', 'minute', 'second')}`;
  };
}

/**
 * Names of the two upper levels of the folder: sources and times. They are read and typed by people, so they are made of
 * what every system takes in the name of a file, and no two sources have the same.
 */
import { createHash } from 'node:crypto';
import { FULL_KEYS, isFull, type StoredBy } from '../../base/stored-by.ts';
import { isUtf8, textOfBytes, type ByteString } from '../../base/byte-path.ts';

/** Before what tells it from others of nearly the same name: names may have 255 bytes, and a character takes up to three. */
const MOST_CHARACTERS = 80;

/**
 * What no name may hold on some system or other, what cannot be seen, and the four characters that mean something here:
 * `+` between names of a path, `,` between paths, `@` before a host and `~` before what tells two apart.
 */
const RESERVED = /[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|+,@~]/gu;

/**
 * `/home/ana` is `home+ana`; of another host it is `home+ana@desk`. A name that had to be changed or cut, so that
 * others could end up with the same, ends with a part of the hash of what it stands for.
 * What a write-only key stored is never named like this machine's: `home+ana@desk@key3-1a2b3c4d`.
 * @param host undefined: this machine, and only of what full keys stored
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

/** Whether it can be told from its names as they are shown. */
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

/** Local times as names that sort: `2026-11-22_10-15-00`. */
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

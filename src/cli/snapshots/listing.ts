/** Entries of snapshots as they are listed: lines like those of `ls -l`, and objects for `--json`. */
import { isUtf8, textOfBytes, type ByteString } from '../../base/byte-path.ts';
import { formatBytes, localTime } from '../../base/units.ts';
import type { EntrySummary } from '../../browse/entries.ts';
import type { Owners } from '../../format/records.ts';
import { printable, printableBytes, printablePath, textWidth, type Styles } from '../terminal/terminal.ts';

/** How output looks on a terminal or, with plain styles and no width, anywhere else. */
export interface Look {
  readonly styles: Styles;
  /** Columns; undefined when nothing is to be cut. */
  readonly width: number | undefined;
}

export interface LongOptions {
  readonly owners: Owners;
  readonly styles: Styles;
  /** Sizes in bytes instead of `1.5 KiB`. */
  readonly exactSizes: boolean;
}

/** One line for an entry: its path, and for links where they lead. */
export function shortLine(path: ByteString, entry: EntrySummary, styles: Styles): string {
  return `${shownName(path, entry, styles)}\n`;
}

/**
 * Makes lines like those of `ls -l`: mode, owner, group, size, local time, path, link target. The size of a directory
 * is that of all files below it. Columns grow when something wider comes, so that nothing has to be known beforehand.
 */
export function longLines(options: LongOptions): (path: ByteString, entry: EntrySummary) => string {
  const { owners, styles, exactSizes } = options;
  const widths = { user: 4, group: 5, size: 9 };
  const fit = (column: keyof typeof widths, text: string): number => {
    widths[column] = Math.max(widths[column], textWidth(text));
    return widths[column] - textWidth(text);
  };
  return (path, entry) => {
    const user = printable(owners.users[entry.uid] ?? String(entry.uid));
    const group = printable(owners.groups[entry.gid] ?? String(entry.gid));
    const size = sizeText(entry, exactSizes);
    const note = entry.changedWhileRead === true ? styles.yellow('  (changed while it was read)') : '';
    return [
      modeText(entry),
      `${user}${' '.repeat(fit('user', user))}`,
      `${group}${' '.repeat(fit('group', group))}`,
      `${' '.repeat(fit('size', size))}${size}`,
      entryTime(entry.mtimeNs),
      `${shownName(path, entry, styles)}${note}\n`,
    ].join('  ');
  };
}

function shownName(path: ByteString, entry: EntrySummary, { cyan, bold }: Styles): string {
  const name = printablePath(path);
  if (entry.type === 'directory') return bold(name);
  if (entry.target === undefined) return name;
  return `${cyan(name)} -> ${printableBytes(entry.target)}`;
}

const TYPE_LETTERS: Readonly<Record<EntrySummary['type'], string>> = {
  file: '-',
  directory: 'd',
  symlink: 'l',
  fifo: 'p',
  socket: 's',
  'char-device': 'c',
  'block-device': 'b',
};

/** `drwxr-sr-t`. */
export function modeText({ type, mode }: Pick<EntrySummary, 'type' | 'mode'>): string {
  const rights = (shift: number, special: number, letter: string): string => {
    const bits = mode >> shift;
    const run = (bits & 1) !== 0;
    const last = (mode & special) === 0 ? (run ? 'x' : '-') : run ? letter : letter.toUpperCase();
    return `${(bits & 4) === 0 ? '-' : 'r'}${(bits & 2) === 0 ? '-' : 'w'}${last}`;
  };
  return `${TYPE_LETTERS[type]}${rights(6, 0o4000, 's')}${rights(3, 0o2000, 's')}${rights(0, 0o1000, 't')}`;
}

/** The size of a file, or of all files below a directory; the numbers of a device; `-` for everything else. */
export function sizeText(entry: EntrySummary, exact = false): string {
  if (entry.major !== undefined) return `${entry.major}, ${entry.minor ?? 0}`;
  const size = entry.size ?? entry.totals?.bytes;
  if (size === undefined) return '-';
  return exact ? String(size) : formatBytes(size);
}

/** The largest time that a Date can hold, in milliseconds. */
const LATEST_MS = 8.64e15;

/** Local time to the second: `2026-11-21 13:05:09`. Times that no calendar reaches stay seconds since 1970. */
export function entryTime(ns: bigint): string {
  const ms = wholeMilliseconds(ns);
  if (Math.abs(ms) > LATEST_MS) return `@${ns / 1_000_000_000n}`;
  return `${localTime(ms)}:${String(new Date(ms).getSeconds()).padStart(2, '0')}`;
}

/** RFC 3339 in UTC with all nine digits; null for a time that no calendar reaches. */
export function exactTime(ns: bigint): string | null {
  const ms = wholeMilliseconds(ns);
  if (Math.abs(ms) > LATEST_MS) return null;
  const fraction = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return `${new Date(ms).toISOString().slice(0, -5)}.${String(fraction).padStart(9, '0')}Z`;
}

/** Rounded towards the past, also before 1970, as is usual for seconds. */
function wholeMilliseconds(ns: bigint): number {
  const ms = ns / 1_000_000n;
  return Number(ns % 1_000_000n < 0n ? ms - 1n : ms);
}

/** A path for JSON: as text, and when it is not UTF-8, in base64 as well. */
export function pathFields(path: ByteString): { readonly path: string; readonly path_b64?: string } {
  return bytesFields('path', path);
}

function bytesFields<Name extends string>(
  name: Name,
  bytes: ByteString,
): { readonly [Field in Name]: string } & { readonly [Field in `${Name}_b64`]?: string } {
  const text = { [name]: textOfBytes(bytes) };
  const exact = isUtf8(bytes) ? {} : { [`${name}_b64`]: Buffer.from(bytes, 'latin1').toString('base64') };
  return { ...text, ...exact } as ReturnType<typeof bytesFields<Name>>;
}

/** An entry for `--json`. Name and target are text; those that are not UTF-8 are also given as `…_b64`. */
export function entryObject(path: ByteString, entry: EntrySummary, owners: Owners): object {
  const { type, name, mode, uid, gid, inode, links, target, totals, major, minor } = entry;
  return {
    ...pathFields(path),
    name: textOfBytes(name),
    type,
    ...(entry.size === undefined ? {} : { size_bytes: entry.size }),
    modified_at: exactTime(entry.mtimeNs),
    mode: mode.toString(8).padStart(4, '0'),
    uid,
    gid,
    ...(owners.users[uid] === undefined ? {} : { user: owners.users[uid] }),
    ...(owners.groups[gid] === undefined ? {} : { group: owners.groups[gid] }),
    inode,
    ...(links === undefined ? {} : { device: links.device, links: links.count }),
    ...(target === undefined ? {} : bytesFields('link_target', target)),
    ...(major === undefined ? {} : { device_major: major, device_minor: minor }),
    ...(totals === undefined
      ? {}
      : { files_below: totals.files, bytes_below: totals.bytes, entries_below: totals.entries }),
    ...(entry.changedWhileRead === true ? { changed_while_read: true } : {}),
  };
}

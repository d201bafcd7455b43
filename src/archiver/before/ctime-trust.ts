/**
 * Finds out which file systems keep a time of change (ctime) that no program can set. On others (FAT, exFAT, images built
 * with one time for all files) new content of the same size and mtime looks like the old, so files there are always read.
 */
import { constants, statfsSync } from 'node:fs';
import { type ByteString, joinBytes, pathAbove } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { fsPath } from '../../base/tree-path.ts';
import { shownPath } from '../../exclude/decision.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { layersOf, mountOf, mountTable, parseMounts } from '../../system/mount-table.ts';
import { O_PATH } from '../../system/platform.ts';
import type { ArchiveObserver } from '../report/observer.ts';
import { closeSource, openSource } from '../source/open.ts';
import { KEEP_INODES } from '../source/same-entry.ts';
import { kindOf, openDirectory } from '../source/stat.ts';

/** The statfs(2) types that keep no ctime and show another time in its place, and of images, which are replaced as a whole. */
const KEEP_NONE: ReadonlySet<number> = new Set([
  0x4d44, // FAT
  0x2011bab0, // exFAT
  0x4244, // HFS
  0xadff, // Amiga
  0xf995e849, // HPFS
  0xc2993d87, // OMFS
  0x137f, // Minix, versions of one time
  0x138f,
  0x73717368, // SquashFS
  0xe0f5e1e2, // EROFS
  0x28cd3d45, // cramfs, of either byte order
  0x453dcd28,
  0x7275, // romfs
  0x9660, // ISO 9660
  0x15013346, // UDF
]);

/** An overlay: each of its layers may be of any type. */
const OVERLAY = 0x794c7630;

/**
 * FAT and exFAT keep times in steps of this size. Outside Linux a finer ctime therefore proves that one is kept; some
 * file systems of Linux make up finer times.
 */
const COARSE_NS = 10_000_000n;
const SHOWS_BY_FINENESS = process.platform !== 'linux';

/** The most entries to look at in search of a file that shows what a file system of unknown type does. */
const MOST_LOOKS = 2_000;
/** A trusted file system may have one file in this many with a ctime before its mtime: someone may have set the mtime. */
const RARE = 10;

/** `each`: some layers keep a ctime and others do not, and nothing tells on which layer a file lies. */
type Keeping = 'always' | 'never' | 'each' | Seen;

/** Counts for a file system whose type says nothing: network shares, FUSE, overlays. */
interface Seen {
  /** Files whose ctime is later than their mtime, as after a change or a copy: a ctime is kept. */
  later: number;
  /** Files whose ctime is before an mtime in the past: the ctime shown is some other time. */
  earlier: number;
}

/** The facts of an entry that matter here. */
type Looked = Pick<EntryStat, 'mode' | 'dev' | 'mtimeNs' | 'ctimeNs'>;

/** The findings of one run, by device. */
export class CtimeTrust {
  readonly #devices = new Map<bigint, Keeping>();
  readonly #nowNs: bigint;
  readonly #onDoubt: ((path: ByteString) => void) | undefined;
  readonly #typeOf: TypeOf;
  readonly #doubted = new Set<bigint>();

  /**
   * @param nowMs when the run began, in milliseconds since 1970
   * @param onDoubt called once per device on which a file that looks unchanged is read anyway, with that file
   */
  constructor(nowMs: number, onDoubt?: (path: ByteString) => void, typeOf: TypeOf = typeOfFileSystem) {
    this.#nowNs = BigInt(Math.trunc(nowMs)) * 1_000_000n;
    this.#onDoubt = onDoubt;
    this.#typeOf = typeOf;
  }

  /** Whether the entry would show another ctime if anything about it had changed. */
  tells(path: ByteString, stat: Looked): boolean {
    const keeping = this.#devices.get(stat.dev) ?? this.#meet(path, stat);
    if (keeping === 'always' || keeping === 'never') return keeping === 'always';
    if (keeping === 'each') return stat.ctimeNs > stat.mtimeNs;
    this.#count(keeping, stat);
    return keeping.later > keeping.earlier * RARE && !this.#isEarlier(stat);
  }

  /** As `tells`, for a file that otherwise looks unchanged: reports that it will be read anyway. */
  vouchesFor(path: ByteString, stat: Looked): boolean {
    if (this.tells(path, stat)) return true;
    if (!this.#doubted.has(stat.dev)) this.#onDoubt?.(path);
    this.#doubted.add(stat.dev);
    return false;
  }

  #meet(path: ByteString, stat: Looked): Keeping {
    // The target of a link may lie on another file system.
    const place = kindOf(stat) === 'symlink' ? pathAbove(path) : path;
    const keeping = kindByType(this.#typeOf(place)) ?? this.#kindOfLayers(place);
    const known = keeping ?? this.#lookAround(pathAbove(path), stat.dev);
    this.#devices.set(stat.dev, known);
    return known;
  }

  #kindOfLayers(place: ByteString): 'always' | 'each' | undefined {
    if (this.#typeOf(place) !== OVERLAY) return undefined;
    // If no layer can be seen, as in a container, all are assumed to be on disks of the host.
    const kinds = layersOf(place).map((layer) => this.#typeOf(layer, 'layer'));
    return kinds.some((type) => type !== undefined && kindByType(type) !== 'always') ? 'each' : 'always';
  }

  /** Counts files near the directory, breadth first. Usually the first few are enough. */
  #lookAround(directory: ByteString, device: bigint): Seen {
    const seen: Seen = { later: 0, earlier: 0 };
    const waiting = [directory];
    let looks = 0;
    const isEnough = (): boolean => looks > MOST_LOOKS || seen.later > RARE;
    for (let at = waiting.shift(); at !== undefined && !isEnough(); at = waiting.shift()) {
      const here = at;
      orNothing(() => {
        const listed = openDirectory(here);
        try {
          for (const name of listed.names) {
            looks += 1;
            if (isEnough()) return;
            const stat = orNothing(() => listed.stat(name));
            if (stat?.dev !== device) continue;
            if (kindOf(stat) === 'directory') waiting.push(joinBytes(here, name));
            this.#count(seen, stat);
          }
        } finally {
          listed.close();
        }
      });
    }
    return seen;
  }

  /** Counts files only: the root of a mount may show the time at which it was mounted. */
  #count(seen: Seen, stat: Looked): void {
    if (kindOf(stat) !== 'file') return;
    if (this.#isEarlier(stat)) seen.earlier += 1;
    else if (stat.ctimeNs > stat.mtimeNs || (SHOWS_BY_FINENESS && stat.ctimeNs % COARSE_NS !== 0n))
      seen.later += 1;
  }

  #isEarlier({ ctimeNs, mtimeNs }: Looked): boolean {
    return ctimeNs < mtimeNs && mtimeNs < this.#nowNs;
  }
}

/** The findings of a run. Its observer gets a note for each file system that keeps no ctime. */
export function ctimesOf(startedMs: number, { note }: Pick<ArchiveObserver, 'note'>): CtimeTrust {
  return new CtimeTrust(startedMs, (path) => note?.(readAgainText(path)));
}

/** Text for people: why files that look unchanged are read in every run. */
function readAgainText(path: ByteString): string {
  const mount = mountOf(path, parseMounts(mountTable()));
  const where = mount === undefined ? shownPath(path) : `${shownPath(mount.path)} (${mount.type})`;
  return `The file system at ${where} does not record when files were last changed, so each backup reads its files again, to miss nothing.`;
}

function kindByType(type: number | undefined): 'always' | 'never' | undefined {
  if (type === undefined) return undefined;
  return KEEP_INODES.has(type) ? 'always' : KEEP_NONE.has(type) ? 'never' : undefined;
}

/** Finds the statfs type of a path. A layer is the path that root gave when mounting, and usually leads by way of links. */
type TypeOf = (path: ByteString, what?: 'layer') => number | undefined;

/** Undefined if the system does not tell. */
function typeOfFileSystem(path: ByteString, what?: 'layer'): number | undefined {
  return orNothing(() => {
    if (what === 'layer' || process.platform !== 'linux') return statfsSync(fsPath(path)).type;
    const fd = openSource(path, O_PATH | constants.O_NOFOLLOW);
    try {
      return statfsSync(`/proc/self/fd/${fd}`).type;
    } finally {
      closeSource(path, fd);
    }
  });
}

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Nanoseconds for which the clock of a file system may stand still, with a margin. */
const TICK_NS = 20_000_000n;
const SECOND_NS = 1_000_000_000n;
/** Some file systems keep whole seconds only (ext3, HFS+, SFTP), and FAT only even ones. */
const COARSEST_NS = 2n * SECOND_NS;

/**
 * False when a change since the run began may have left the entry with this very ctime, so that it has to be looked at again.
 */
export type IsSettled = (ctimeNs: bigint) => boolean;

/**
 * Decides which entries have a ctime that would show any change since a run began. A change after the run began has a
 * ctime that is rounded down to the last tick. A ctime of whole seconds may be finer and whole only by chance, but
 * looking at such an entry again costs little.
 * @param startedMs when the run began, milliseconds since 1970
 */
export function settledBefore(startedMs: number): IsSettled {
  const beforeNs = BigInt(startedMs) * 1_000_000n - TICK_NS;
  const coarseBeforeNs = beforeNs - COARSEST_NS;
  return (ctimeNs) => ctimeNs < coarseBeforeNs || (ctimeNs < beforeNs && ctimeNs % SECOND_NS !== 0n);
}

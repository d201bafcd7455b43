import { setImmediate } from 'node:timers/promises';
import { type ByteString, joinBytes } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import {
  kindOf,
  type ListedDirectory,
  openDirectory,
  putTime,
  statPath,
  timeAt,
  timeColumns,
} from './stat.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** The number of entries held at most, at about 170 bytes each. */
const MAX_ENTRIES = 200_000;

/**
 * Looks at the sources while the passphrase is still being stretched, so that an unchanged source has been walked by the time
 * the repository opens. The walker uses these observations instead of its own. A file that changes in between is noticed when
 * it is read, as always. The scout stays on the file systems that the sources begin on, and knows no exclude rules.
 */
export class Scout {
  readonly #seen = new Map<ByteString, Seen>();
  #entries = 0;
  #stopped = false;

  /** Starts at once, and continues in slices of the event loop until everything is seen or `stop` is called. */
  static start(sources: readonly ByteString[]): Scout {
    const scout = new Scout();
    void scout.#run(sources);
    return scout;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Drops all observations. Without a parent to compare with they are not needed: the readers are slower than any walk. */
  forget(): void {
    this.#stopped = true;
    this.#seen.clear();
  }

  /** The listing of a directory, if there is one; it can be taken once. */
  take(path: ByteString): ListedDirectory | undefined {
    const seen = this.#seen.get(path);
    if (seen === undefined) return undefined;
    this.#seen.delete(path);
    const { itself, names } = seen;
    return { itself, names, fd: undefined, stat: unpacker(seen), close: () => {} };
  }

  async #run(sources: readonly ByteString[]): Promise<void> {
    for (const source of sources) {
      const device = deviceOf(source);
      if (device === undefined) continue;
      const open: ByteString[] = [source];
      for (let path = open.pop(); path !== undefined; path = open.pop()) {
        if (this.#stopped || this.#entries > MAX_ENTRIES) return;
        open.push(...this.#look(path, device).toReversed());
        await setImmediate();
      }
    }
  }

  /**
   * Lists a directory and returns its subdirectories on the same device. One that cannot be read is left to the walker,
   * which reports it.
   */
  #look(path: ByteString, device: bigint): ByteString[] {
    const below: ByteString[] = [];
    try {
      const listed = openDirectory(path);
      try {
        const count = listed.names.length;
        const seen: Seen = {
          itself: listed.itself,
          names: listed.names,
          numbers: new Float64Array(count * NUMBERS),
          identities: new BigUint64Array(count * 2),
          times: timeColumns(count * 2),
        };
        for (const [i, name] of listed.names.entries()) {
          const stat = listed.stat(name);
          if (stat === undefined) continue;
          pack(seen, i, stat);
          if (stat.dev === device && kindOf(stat) === 'directory') below.push(joinBytes(path, name));
        }
        this.#seen.set(path, seen);
        this.#entries += count;
      } finally {
        listed.close();
      }
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
    }
    return below;
  }
}

/** The stats of a directory in columns: less than half the memory of as many objects. */
interface Seen {
  readonly itself: EntryStat;
  readonly names: readonly ByteString[];
  /** Eight per entry: mode (0 if it vanished), links, uid, gid, size, blocks, major, minor. */
  readonly numbers: Float64Array;
  /** Two per entry: device, inode. Some file systems use all 64 bits of them. */
  readonly identities: BigUint64Array;
  /** Two per entry: mtime, ctime. */
  readonly times: BigInt64Array;
}

const NUMBERS = 8;

function pack({ numbers, identities, times }: Seen, i: number, stat: EntryStat): void {
  const { mode, nlink, uid, gid, size, blocks, dev, ino, rdevMajor, rdevMinor } = stat;
  numbers.set([mode, nlink, uid, gid, size, blocks, rdevMajor, rdevMinor], i * NUMBERS);
  identities[i * 2] = dev;
  identities[i * 2 + 1] = ino;
  putTime(times, i * 2, stat.mtimeNs);
  putTime(times, i * 2 + 1, stat.ctimeNs);
}

/** Looks entries up by name. The walker asks in order, so the next entry is nearly always the right one. */
function unpacker({ names, numbers, identities, times }: Seen): (name: ByteString) => EntryStat | undefined {
  let next = 0;
  return (name) => {
    const i = names[next] === name ? next : names.indexOf(name);
    next = i + 1;
    const number = (k: number): number => numbers[i * NUMBERS + k] ?? 0;
    if (i < 0 || number(0) === 0) return undefined;
    return {
      mode: number(0),
      nlink: number(1),
      uid: number(2),
      gid: number(3),
      size: number(4),
      blocks: number(5),
      dev: identities[i * 2] ?? 0n,
      ino: identities[i * 2 + 1] ?? 0n,
      rdevMajor: number(6),
      rdevMinor: number(7),
      mtimeNs: timeAt(times, i * 2),
      ctimeNs: timeAt(times, i * 2 + 1),
    };
  };
}

function deviceOf(source: ByteString): bigint | undefined {
  try {
    const stat = statPath(source);
    return stat !== undefined && kindOf(stat) === 'directory' ? stat.dev : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

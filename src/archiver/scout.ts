import { setImmediate } from 'node:timers/promises';
import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { kindOf, openDirectory, statPath, type ListedDirectory, type SourceStat } from './source-stat.ts';

/** Entries held at most, about 300 bytes each. */
const MAX_ENTRIES = 200_000;

/**
 * Looks at the sources while the passphrase is still being stretched, so that an unchanged source is walked by the
 * time the repository opens. What it saw stands for the walker's own look; a file that changes in between is noticed
 * when it is read, as always. It keeps to the file systems the sources begin on and knows no exclude rules.
 */
export class Scout {
  readonly #seen = new Map<ByteString, Seen>();
  #entries = 0;
  #stopped = false;

  /** Begins at once and goes on in slices of the event loop until everything is seen or `stop` is called. */
  static start(sources: readonly ByteString[]): Scout {
    const scout = new Scout();
    void scout.#run(sources);
    return scout;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** What was seen of a directory; given out once. */
  take(path: ByteString): ListedDirectory | undefined {
    const seen = this.#seen.get(path);
    if (seen === undefined) return undefined;
    this.#seen.delete(path);
    return { names: seen.names, stat: (name) => seen.stats.get(name), close: () => {} };
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

  /** Subdirectories on the same device. A directory that cannot be read is left to the walker, which reports it. */
  #look(path: ByteString, device: bigint): ByteString[] {
    const below: ByteString[] = [];
    try {
      const listed = openDirectory(path);
      try {
        const stats = new Map<ByteString, SourceStat>();
        for (const name of listed.names) {
          const stat = listed.stat(name);
          if (stat === undefined) continue;
          stats.set(name, stat);
          if (stat.dev === device && kindOf(stat) === 'directory') below.push(joinBytes(path, name));
        }
        this.#seen.set(path, { names: listed.names, stats });
        this.#entries += listed.names.length;
      } finally {
        listed.close();
      }
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
    }
    return below;
  }
}

interface Seen {
  readonly names: readonly ByteString[];
  readonly stats: ReadonlyMap<ByteString, SourceStat>;
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

import { randomInt } from 'node:crypto';
import { corrupt } from '../../base/errors.ts';
import { ID_BYTES } from '../../codec/hash.ts';
import type { IndexedPack } from '../../format/index-object.ts';
import { decodePackDirectory } from '../../format/pack.ts';
import { isDamage } from '../chunk-index.ts';
import { type Listed, packKey } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { type CheckedIndex, compareClaims, isGone } from './check-index.ts';
import { type PackExamination, PackExaminer } from './check-pack.ts';
import { CheckPool, defaultCheckWorkers } from './check-pool.ts';
import type { CheckObserver, Findings } from './check-report.ts';

/** Which packs are read whole: none, all, or a random selection of so many percent or bytes. */
export type ReadData = false | 'all' | { readonly percent: number } | { readonly bytes: number };

/** Below this total, starting a worker takes longer than reading the packs. */
const INLINE_BYTES = 16 * 1024 * 1024;

/** Total size of packs in memory at once: two of the usual size, or a single larger one. */
const BYTES_IN_FLIGHT = 72 * 1024 * 1024;

/** The results of reading packs. */
export interface PackResults {
  /** Chunks (ids of 16 bytes or more) that cannot be read, by pack. */
  readonly bad: ReadonlyMap<string, readonly Uint8Array[]>;
  /** Chunks whose bytes match their id under no known key, by pack. */
  readonly strangers: ReadonlyMap<string, readonly Uint8Array[]>;
  /** Packs whose own directory differs from the index objects, as they describe themselves. */
  readonly differing: ReadonlyMap<string, IndexedPack>;
  /** Packs that were read and are sound. */
  readonly proven: readonly string[];
  /** Packs that were removed after they were listed. */
  readonly gone: readonly string[];
  readonly packsRead: number;
  readonly bytesRead: number;
}

/** Chooses the packs to read, the largest first so that the threads finish together. */
export function choosePacks(listed: ReadonlyMap<string, Listed>, readData: ReadData): string[] {
  if (readData === false) return [];
  const bySize = [...listed].sort(([, a], [, b]) => b.size - a.size);
  if (readData === 'all') return bySize.map(([name]) => name);
  const total = bySize.reduce((sum, [, { size }]) => sum + size, 0);
  const wanted = 'bytes' in readData ? readData.bytes : (total * readData.percent) / 100;
  const pool = [...bySize];
  const chosen: [string, Listed][] = [];
  let bytes = 0;
  while (bytes < wanted) {
    const [one] = pool.splice(pool.length === 0 ? 0 : randomInt(pool.length), 1);
    if (one === undefined) break;
    chosen.push(one);
    bytes += one[1].size;
  }
  return chosen.sort(([, a], [, b]) => b.size - a.size).map(([name]) => name);
}

/**
 * Reads packs whole and examines them on worker threads.
 * @param before results of earlier packs, to which the new ones are added
 */
export async function readPacks(
  repository: Repository,
  names: readonly string[],
  checked: CheckedIndex & { readonly listed: ReadonlyMap<string, Listed> },
  options: {
    readonly salts: readonly Uint8Array[];
    readonly workers: number | undefined;
    readonly before?: PackResults;
  },
  findings: Findings,
  observer: CheckObserver,
  signal: AbortSignal,
): Promise<PackResults> {
  const bytes = names.reduce((sum, name) => sum + (checked.listed.get(name)?.size ?? 0), 0);
  const wanted = options.workers ?? (bytes < INLINE_BYTES ? 0 : defaultCheckWorkers(names.length));
  const local = new PackExaminer(repository.keys, options.salts);
  await using disposal = new AsyncDisposableStack();
  const pool =
    wanted === 0
      ? undefined
      : disposal.use(new CheckPool({ keys: repository.keys.material, salts: options.salts }, wanted));
  const results = new Results(checked, findings, options.before);
  const budget = new ByteBudget(BYTES_IN_FLIGHT);
  const examine = async (name: string): Promise<PackExamination> => {
    const read = async (): Promise<Buffer> =>
      await repository.destination.get(packKey(name), undefined, signal);
    const known = checked.claims.get(name)?.[0]?.pack ?? checked.lost.get(name);
    if (pool === undefined) return local.examine(name, await read(), known);
    const examination = await pool.examine(name, await read());
    if (examination.problems.length === 0 || known === undefined) return examination;
    // Examined again with the pack's entry in the index, which workers do not have.
    return local.examine(name, await read(), known);
  };
  await mapParallel(names, pool === undefined ? 1 : pool.workers + 1, async (name) => {
    signal.throwIfAborted();
    const size = checked.listed.get(name)?.size ?? 0;
    try {
      results.add(await budget.run(size, async () => await examine(name)));
      observer.packRead({ packs: results.packsRead, bytes: results.bytesRead });
    } catch (error) {
      if (!isDamage(error)) throw error;
      results.unread(name, error);
    }
  });
  return results;
}

class Results implements PackResults {
  readonly bad: Map<string, readonly Uint8Array[]>;
  readonly strangers: Map<string, readonly Uint8Array[]>;
  readonly differing: Map<string, IndexedPack>;
  readonly proven: string[];
  readonly gone: string[];
  packsRead: number;
  bytesRead: number;
  readonly #checked: CheckedIndex;
  readonly #findings: Findings;

  constructor(checked: CheckedIndex, findings: Findings, before?: PackResults) {
    this.#checked = checked;
    this.#findings = findings;
    this.bad = new Map(before?.bad);
    this.strangers = new Map(before?.strangers);
    this.differing = new Map(before?.differing);
    this.proven = [...(before?.proven ?? [])];
    this.gone = [...(before?.gone ?? [])];
    this.packsRead = before?.packsRead ?? 0;
    this.bytesRead = before?.bytesRead ?? 0;
  }

  add(examination: PackExamination): void {
    const { name, bytes, problems, self, badChunks, strangers } = examination;
    this.packsRead += 1;
    this.bytesRead += bytes;
    for (const problem of problems) this.#findings.add('error', `pack ${name}`, problem);
    if (badChunks.length > 0) this.bad.set(name, badChunks);
    if (strangers.length > 0) this.strangers.set(name, strangers);
    if (problems.length === 0 && strangers.length === 0) this.proven.push(name);
    if (self === undefined || problems.length > 0) return;
    const directory = decodePackDirectory(Buffer.from(self.directory), `pack ${name}`);
    if (directory.idBytes !== ID_BYTES) throw corrupt(`pack ${name}`, 'its directory has short ids');
    this.#checked.ids.takeDirectory(name, directory);
    const identity = { ...self, salt: Buffer.from(self.salt) };
    if (!compareClaims(name, this.#checked.claims, identity, directory, this.#findings)) {
      this.differing.set(name, { name, ...identity, directory });
    }
  }

  unread(name: string, error: Error): void {
    if (isGone(error)) {
      this.gone.push(name);
      return;
    }
    this.#findings.addError(`pack ${name}`, error);
    const known = this.#checked.claims.get(name)?.[0]?.pack.directory;
    if (known === undefined) return;
    const { ids, idBytes } = known;
    const bad: Uint8Array[] = [];
    for (let at = 0; at < ids.length; at += idBytes) bad.push(ids.subarray(at, at + idBytes));
    this.bad.set(name, bad);
  }
}

/** Limits how many bytes concurrent work holds in memory. */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for its turn, then runs `work`, which holds `bytes` in memory. Work larger than the limit runs alone. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.push({ bytes, start });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#used -= bytes;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#used > 0 && this.#used + next.bytes > this.#limit) return;
      this.#waiting.shift();
      this.#used += next.bytes;
      next.start();
    }
  }
}

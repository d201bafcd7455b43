/**
 * Estimates whether the kernel may have dropped events, which the native watcher does not report. A full queue is read
 * as a whole afterwards. So when less than one queue's worth was read within some time, no event was dropped.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { errnoOf } from '../base/errors.ts';

/** Bytes of the shortest event: one without a name. */
const SHORTEST_EVENT = 16;
/** Milliseconds within which a full queue is certain to be read. */
const WINDOW_MS = 3_000;
/** Share of the queue used when bytes cannot be counted, as several events on one entry are reported as one. */
const SHARE_OF_REPORTED = 1 / 8;
const USUAL_QUEUE = 16_384;

export interface PressureSources {
  /** The number of events that the kernel queues. */
  readonly queue: number;
  /** Bytes that the event-reading threads have read so far; undefined when unknown. */
  readonly bytesRead: () => number | undefined;
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
  readonly reported: number;
}

export class EventPressure {
  readonly #sources: PressureSources;
  #bytes: number | undefined;
  #samples: Sample[] = [];

  constructor(sources: PressureSources) {
    this.#sources = sources;
    this.#bytes = sources.bytesRead();
  }

  /** @returns true when events may have been dropped since the last call; `reported` is how many arrived */
  isTooHigh(nowMs: number, reported: number): boolean {
    const bytes = this.#sources.bytesRead();
    const known = bytes !== undefined && this.#bytes !== undefined;
    const sample = { atMs: nowMs, bytes: known ? bytes - (this.#bytes ?? 0) : 0, reported };
    this.#bytes = bytes;
    this.#samples = [...this.#samples.filter(({ atMs }) => nowMs - atMs < WINDOW_MS), sample];
    const { queue } = this.#sources;
    const sum = (of: (sample: Sample) => number): number =>
      this.#samples.reduce((total, one) => total + of(one), 0);
    const tooHigh = known
      ? sum((one) => one.bytes) >= queue * SHORTEST_EVENT
      : sum((one) => one.reported) >= queue * SHARE_OF_REPORTED;
    if (tooHigh) this.#samples = [];
    return tooHigh;
  }
}

/** The kernel's current limit for queued events. */
export function queueLength(): number {
  return numberIn('/proc/sys/fs/inotify/max_queued_events') ?? USUAL_QUEUE;
}

/** Threads of this process, where the system lists them. */
export function threads(): ReadonlySet<string> {
  return new Set(orNothing(() => readdirSync('/proc/self/task')));
}

/** Those of `candidates` that the main thread has started outside of any pool, which have the same name as it. */
export function threadsNamedAsMain(candidates: Iterable<string>): readonly string[] {
  const nameOf = (thread: string): string | undefined =>
    orNothing(() => readFileSync(`/proc/self/task/${thread}/comm`, 'latin1'));
  const main = nameOf(String(process.pid));
  return [...candidates].filter((thread) => main !== undefined && nameOf(thread) === main);
}

/** Bytes that the threads have read; undefined when that is not counted, or when one of them has ended. */
export function bytesReadBy(readers: readonly string[]): number | undefined {
  if (readers.length === 0) return undefined;
  let sum = 0;
  for (const thread of readers) {
    const text = orNothing(() => readFileSync(`/proc/self/task/${thread}/io`, 'latin1'));
    const read = /^rchar: (\d+)$/m.exec(text ?? '')?.[1];
    if (read === undefined) return undefined;
    sum += Number(read);
  }
  return sum;
}

export function numberIn(path: string): number | undefined {
  const number = Number.parseInt(orNothing(() => readFileSync(path, 'latin1')) ?? '', 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Objects that snapshots need stay protected (Object Lock) for as long as they are needed: their time begins anew. */
import { DestinationError } from '../base/errors.ts';
import type { ListedObject } from '../destination/destination.ts';
import { mapParallel } from './objects/parallel.ts';
import type { Repository } from './repository.ts';
import { readTombstones } from './tombstones.ts';

/** What this machine knows of the times until which objects are protected, milliseconds of the storage's clock. */
export interface ProtectionMemory {
  /** The least that is known; undefined for an object of which nothing is. Never throws. */
  untilMs(key: string): number | undefined;
  /** Never throws: what is forgotten is asked for again. */
  note(untilMs: ReadonlyMap<string, number>): void;
}

export interface Protection {
  /** Objects whose time begins anew. */
  readonly extended: number;
  /** Objects whose turn comes with the next backups. */
  readonly left: number;
  /** Why it could not go on. */
  readonly failure: DestinationError | undefined;
}

const DAY_MS = 86_400_000;
/** Requests of one run: a thousand take half a minute where a round trip takes half a second. */
const PER_RUN = 1000;
/** So many refusals tell enough: objects of somebody else may be among those that are this machine's own. */
const REFUSALS = 100;
/** Looked through at least this often, and eight times within the period. */
const LOOKED_EVERY_MS = DAY_MS;

/** What restoring takes. Heads and leases come and go, and tombstones take nothing away that is protected. */
const NEEDED = ['keys/', 'config/', 'copies/', 'snapshots/', 'index/', 'packs/'] as const;

/**
 * Has the time of protection begin anew for what snapshots need and has less than half of it left, the most urgent
 * first. To be called after a snapshot was stored. When each object's time ends is remembered, and all are looked through
 * once a day, so that most runs ask for nothing. Undefined where nothing is protected.
 */
export async function extendProtection(
  repository: Repository,
  signal: AbortSignal,
): Promise<Protection | undefined> {
  const { destination, look } = repository;
  const memory = repository.cache.protection;
  const { retainDays } = destination.properties;
  if (retainDays === undefined || memory === undefined || look === undefined) return undefined;
  const periodMs = retainDays * DAY_MS;
  // When all objects are looked through again: at once when the period is another one. No object has such a key.
  const nextLook = `NEXT-LOOK-${retainDays}`;
  const stored = look.takeStored();
  memory.note(new Map(stored.map(({ key, modifiedMs }) => [key, modifiedMs + periodMs])));
  const nowMs = Math.max(0, ...stored.map(({ modifiedMs }) => modifiedMs));
  const done = { extended: 0, left: 0, failure: undefined };
  if (nowMs < (memory.untilMs(nextLook) ?? 0)) return done;
  try {
    const due = await dueObjects(repository, memory, nowMs + periodMs / 2, signal);
    const now = due.slice(0, PER_RUN);
    const { extended, failure } = await extend(repository, memory, now, nowMs + periodMs, signal);
    const left = due.length - extended;
    if (left === 0) {
      const everyMs = Math.min(LOOKED_EVERY_MS, periodMs / 8);
      memory.note(new Map([[nextLook, nowMs + everyMs]]));
    }
    return { extended, left, failure };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DestinationError)) throw error;
    return { ...done, failure: error };
  }
}

/** The keys of needed objects that are protected no longer than that, as far as is known; the most urgent first. */
async function dueObjects(
  repository: Repository,
  memory: ProtectionMemory,
  beforeMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { packs, snapshots } = await readTombstones(repository, signal);
  const due: { readonly key: string; readonly untilMs: number }[] = [];
  for await (const page of neededObjects(repository, signal)) {
    for (const { key } of page) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      const untilMs = memory.untilMs(key) ?? 0;
      if (untilMs < beforeMs && !packs.has(name) && !snapshots.has(name)) due.push({ key, untilMs });
    }
  }
  const rank = (key: string): number => NEEDED.findIndex((prefix) => key.startsWith(prefix));
  return due.sort((a, b) => a.untilMs - b.untilMs || rank(a.key) - rank(b.key)).map(({ key }) => key);
}

async function* neededObjects(
  { destination }: Repository,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  const needed = ({ key }: ListedObject): boolean => NEEDED.some((prefix) => key.startsWith(prefix));
  if (destination.properties.flatLists !== true)
    for (const prefix of NEEDED) yield* destination.list(prefix, signal);
  else for await (const page of destination.list('', signal)) yield page.filter(needed);
}

async function extend(
  { destination }: Repository,
  memory: ProtectionMemory,
  keys: readonly string[],
  untilMs: number,
  signal: AbortSignal,
): Promise<Pick<Protection, 'extended' | 'failure'>> {
  const noted = new Map<string, number>();
  let failure: DestinationError | undefined;
  let refusals = 0;
  const one = async (key: string): Promise<void> => {
    if (failure !== undefined && (failure.kind !== 'denied' || refusals >= REFUSALS)) return;
    try {
      await destination.retain?.(key, signal);
      noted.set(key, untilMs);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DestinationError)) throw error;
      // Prune has removed it since it was listed.
      if (error.kind === 'not-found') noted.set(key, 0);
      else {
        failure = error;
        refusals += 1;
      }
    }
  };
  try {
    await mapParallel(keys, destination.properties.maxParallel, one);
  } finally {
    memory.note(noted);
  }
  return { extended: noted.size, failure };
}

/** What a person should know of it; undefined when all is well. */
export function protectionWarning({ failure, left }: Protection): string | undefined {
  if (failure === undefined) return undefined;
  const what = left === 0 ? 'the objects' : left === 1 ? '1 object' : `${left} objects`;
  const hint =
    failure.kind === 'denied'
      ? 'Allow s3:PutObjectRetention to these credentials.'
      : 'The next backup tries again.';
  return `The backup is complete, but the time of protection of ${what} could not be extended: ${failure.message}. ${hint}`;
}

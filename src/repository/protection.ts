/** Keeps objects that snapshots need protected (Object Lock) for as long as they are needed, by extending their retention. */
import { DestinationError } from '../base/errors.ts';
import type { ListedObject } from '../destination/destination.ts';
import { mapParallel } from './objects/parallel.ts';
import type { ProtectionMemory } from './metadata-cache.ts';
import type { Repository } from './repository.ts';
import { readTombstones } from './tombstones.ts';

export interface Protection {
  /** Number of objects whose protection was extended. */
  readonly extended: number;
  /** Number of objects that are left to the next backups. */
  readonly left: number;
  /** Why not all objects could be extended. */
  readonly failure: DestinationError | undefined;
}

const DAY_MS = 86_400_000;
/** Most requests of one run: a thousand take half a minute where a round trip takes half a second. */
const PER_RUN = 1000;
/** The run stops after this many refusals. A few are no reason to stop, since objects of other machines may be among them. */
const REFUSALS = 100;
/** All objects are examined at least this often, and eight times within the period of protection. */
const LOOKED_EVERY_MS = DAY_MS;

/** What a restore needs. Heads and leases are short-lived, and a tombstone removes nothing that is protected. */
const NEEDED = ['keys/', 'config/', 'copies/', 'snapshots/', 'index/', 'packs/'] as const;

/**
 * Extends the protection of objects that snapshots need and that have less than half of the period left, the most
 * urgent first. Call this after a snapshot was stored. The end of each object's protection is remembered, and all
 * objects are examined once a day, so that most runs make no requests. Undefined where nothing is protected.
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
  // Memory entry for the time of the next examination, at once when the period has changed. No object has such a key.
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

/** The keys of needed objects whose protection, as far as is known, ends before `beforeMs`; the most urgent first. */
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
      // Prune has removed the object since it was listed.
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

/** The warning for the user; undefined when all is well. */
export function protectionWarning({ failure, left }: Protection): string | undefined {
  if (failure === undefined) return undefined;
  const what = left === 0 ? 'the objects' : left === 1 ? '1 object' : `${left} objects`;
  const hint =
    failure.kind === 'denied'
      ? 'Allow s3:PutObjectRetention to these credentials.'
      : 'The next backup tries again.';
  return `The backup is complete, but the protection of ${what} could not be extended: ${failure.message}. ${hint}`;
}

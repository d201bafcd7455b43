/**
 * Limits attempts to sign in by sliding logs in the store. They are exact across instances and restarts, because each
 * attempt is counted under a lock, by the time that all instances share. The subject of a log is stored as a keyed
 * hash, since what people type need not be an address, let alone that of an account.
 */
import type { RateVerdict } from '../../db/rate-log.ts';
import { skipLocked, type StoreDatabase, type StoreReader } from './database.ts';
import type { KeyedHash } from './keyed-hash.ts';
import { takeFromLog } from './rate-log.ts';

export interface AttemptLimit {
  readonly kind: 'all' | 'first' | 'network' | 'account' | 'browser' | 'codes';
  /** What the log counts for, such as an account or a network. */
  readonly of: readonly string[];
  readonly limit: number;
  readonly windowMs: number;
}

export type AttemptVerdict =
  | { readonly kind: 'taken'; readonly places: TakenPlaces }
  /** The limit that refuses for longest, when several do. */
  | { readonly kind: 'refused'; readonly by: AttemptLimit & RateVerdict };

/** Passed to `giveBack`. */
export interface TakenPlaces {
  readonly names: readonly string[];
  readonly at: number;
}

export interface SignInLog {
  /** Takes a place in each log. When one of them is full, takes none and leaves the store unchanged. */
  take(limits: readonly AttemptLimit[]): Promise<AttemptVerdict>;
  /** Gives the places back: the attempt does not count. */
  giveBack(places: TakenPlaces): Promise<void>;
  /** Forgets logs whose attempts have all left their window. */
  prune(): Promise<void>;
}

interface NamedLimit extends AttemptLimit {
  readonly name: string;
}

export function createSignInLog(db: StoreDatabase, hash: KeyedHash): SignInLog {
  const queued = createQueue();

  const take = async (limits: readonly AttemptLimit[]): Promise<AttemptVerdict> => {
    const logs = limits.map((one) => ({
      ...one,
      name: `${one.kind} ${hash('sign-in log', JSON.stringify(one.of))}`,
    }));
    const names = logs.map(({ name }) => name);
    // During an attack nearly all attempts are refused. Refusals need no lock and write nothing.
    const seen = refusalIn(stepsOf(logs, await timesOf(db.reader, names), await db.sharedNow(db.reader)));
    if (seen !== undefined) return seen;
    return await db.relaxedAlone(names, async (trx) => {
      // Read after the logs are locked, so that it is later than the times of earlier holders of the locks.
      const at = await db.sharedNow(trx);
      const steps = stepsOf(logs, await timesOf(trx, names), at);
      const refusal = refusalIn(steps);
      if (refusal !== undefined) return refusal;
      for (const { log, times } of steps) {
        const counted = { times: JSON.stringify(times), expires_at: at + log.windowMs };
        await trx
          .insertInto('sign_in_log')
          .values({ name: log.name, ...counted })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(counted))
          .execute();
      }
      return { kind: 'taken', places: { names, at } };
    });
  };

  return {
    // Attempts that use a shared log wait for each other here, instead of each holding a connection that others need.
    take: async (limits) =>
      limits.some(({ kind }) => kind === 'all' || kind === 'first')
        ? await queued(async () => await take(limits))
        : await take(limits),

    giveBack: async ({ names, at }) => {
      await db.relaxedAlone(names, async (trx) => {
        for (const [name, times] of await timesOf(trx, names)) {
          await trx
            .updateTable('sign_in_log')
            .set({ times: JSON.stringify(without(times, at)) })
            .where('name', '=', name)
            .execute();
        }
      });
    },

    prune: async () => {
      await db.write(async (trx) => {
        const now = await db.sharedNow(trx);
        // Skips locked logs: a log that is being written is in use again, and waiting for each other's rows could deadlock.
        await trx
          .deleteFrom('sign_in_log')
          .where('name', 'in', (query) =>
            query
              .selectFrom('sign_in_log')
              .select('name')
              .where('expires_at', '<=', now)
              .$call(skipLocked(db)),
          )
          .execute();
      });
    },
  };
}

type Times = ReadonlyMap<string, readonly number[]>;

/** The times of those logs that exist. */
async function timesOf(reader: StoreReader, names: readonly string[]): Promise<Times> {
  const rows = await reader
    .selectFrom('sign_in_log')
    .select(['name', 'times'])
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map(({ name, times }) => [name, JSON.parse(times) as readonly number[]]));
}

interface Step {
  readonly log: NamedLimit;
  readonly verdict: RateVerdict;
  readonly times: readonly number[];
}

function stepsOf(logs: readonly NamedLimit[], known: Times, now: number): readonly Step[] {
  return logs.map((log) => ({
    log,
    ...takeFromLog(known.get(log.name) ?? [], log.limit, log.windowMs, now),
  }));
}

function refusalIn(steps: readonly Step[]): Extract<AttemptVerdict, { kind: 'refused' }> | undefined {
  const [longest] = steps
    .filter(({ verdict }) => !verdict.accepted)
    .toSorted((a, b) => b.verdict.retryAfterMs - a.verdict.retryAfterMs);
  return longest && { kind: 'refused', by: { ...longest.log, ...longest.verdict } };
}

function without(times: readonly number[], one: number): readonly number[] {
  const index = times.indexOf(one);
  return index === -1 ? times : times.toSpliced(index, 1);
}

/** Creates a queue that runs one piece of work after the other. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const done = last.then(work);
    // The caller gets the failure through `done`, and the queue goes on.
    last = done.catch(() => undefined);
    return await done;
  };
}

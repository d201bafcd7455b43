/**
 * Attempts to sign in, as sliding logs in the store: exact in all instances together and over restarts, as each attempt is
 * counted alone, by the time that all instances share. Whose a log is stands there as a keyed hash: what people type need
 * not be an address, let alone one of an account.
 */
import type { RateVerdict } from '../../db/rate-log.ts';
import { skipLocked, type StoreDatabase, type StoreReader } from './database.ts';
import type { KeyedHash } from './keyed-hash.ts';
import { takeFromLog } from './sliding-log.ts';

export interface AttemptLimit {
  readonly kind: 'all' | 'first' | 'network' | 'account' | 'browser' | 'codes';
  /** Whose log of that kind it is. */
  readonly of: readonly string[];
  readonly limit: number;
  readonly windowMs: number;
}

export type AttemptVerdict =
  | { readonly kind: 'taken'; readonly places: TakenPlaces }
  /** Of several that refuse it, the limit that does so for longest. */
  | { readonly kind: 'refused'; readonly by: AttemptLimit & RateVerdict };

/** What `giveBack` needs. */
export interface TakenPlaces {
  readonly names: readonly string[];
  readonly at: number;
}

export interface SignInLog {
  /** Takes a place in each log, or in none when one of them is full, which leaves the store as it was. */
  take(limits: readonly AttemptLimit[]): Promise<AttemptVerdict>;
  /** The attempt does not count any more. */
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
    // While somebody tries a great many, nearly all are refused: these need no lock, and write nothing.
    const seen = refusalIn(stepsOf(logs, await timesOf(db.reader, names), await db.sharedNow(db.reader)));
    if (seen !== undefined) return seen;
    return await db.relaxedAlone(names, async (trx) => {
      // Read after the logs are held: whoever had them before has an earlier time.
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
    // Those that pass a log of all wait for each other here, and not each with a connection, which others need too.
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
        // What somebody writes right now counts again, and two that wait for each other's rows would hold up both.
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

/** Of the logs that there are. */
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

/** Does one work after the other. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const done = last.then(work);
    // Whoever asked for it hears that it failed; the next one goes on.
    last = done.catch(() => undefined);
    return await done;
  };
}

/**
 * What this process waits for that is not its own to end: a store that asks for time, a server that does not answer. It
 * is kept for the whole process, since who waits knows nobody who could be told, and each process has one reader.
 */
import { systemClock } from './clock.ts';

/** All times are those of the monotonic clock, in milliseconds. */
type Wait = {
  readonly whom: Whom;
  /** The name that the other gives its failure, or a word or two; undefined while nothing is said at all. */
  readonly because: string | undefined;
  /** Since when nothing has moved. */
  readonly since: () => number;
} & (
  | { readonly next: 'again'; readonly until: () => number }
  /** Undefined where the end is open. */
  | { readonly next: 'given up'; readonly until: (() => number) | undefined }
);

/** One that is over before is worth no word. */
export const WORTH_TELLING_MS = 4_000;

/** Whom it is waited for. */
export type Whom = keyof typeof WHOM;

const WHOM = {
  store: 'the store',
  file_system: 'the file system',
  rclone: 'rclone',
  other_session: 'another program that may be at work here',
  other_change: 'another program that changes the repository',
} as const;

/** A wait that is worth telling. */
export type OthersWait =
  | {
      readonly code: 'asked_again';
      readonly params: {
        readonly whom: Whom;
        /** The name that the other gives its failure, or a word or two. */
        readonly because: string | null;
        readonly again_in_seconds: number;
      };
    }
  | {
      readonly code: 'no_answer';
      readonly params: {
        readonly whom: Whom;
        readonly silent_seconds: number;
        /** Null where that is open. */
        readonly given_up_in_seconds: number | null;
      };
    };

const waits = new Set<Wait>();

/** Waits until `ms` from now on before it asks again, after failures since then. Call what is returned when that is over. */
export function waitsToAskAgain(
  whom: Whom,
  because: string | undefined,
  ms: number,
  since = systemClock.monotonic(),
): () => void {
  const until = systemClock.monotonic() + ms;
  return begin({ whom, because, since: () => since, until: () => until, next: 'again' });
}

/** Waits for an answer since then, for `patienceMs` at most. Call what is returned when it has come. */
export function waitsForAnswer(whom: Whom, since: () => number, patienceMs?: () => number): () => void {
  const until = patienceMs === undefined ? undefined : () => since() + patienceMs();
  return begin({ whom, because: undefined, since, until, next: 'given up' });
}

function begin(wait: Wait): () => void {
  waits.add(wait);
  return () => void waits.delete(wait);
}

/** The wait that is worth telling: the one that goes on for the longest; undefined when all goes on, as far as is known. */
export function toldWait(now = systemClock.monotonic()): OthersWait | undefined {
  let longest: Wait | undefined;
  let most = WORTH_TELLING_MS - 1;
  for (const wait of waits) {
    const ms = lasts(wait, now);
    if (ms > most || (ms === most && wait.next === 'again')) [longest, most] = [wait, ms];
  }
  return longest === undefined ? undefined : told(longest, now);
}

/** What was waited so far; of one whose end is known, all of it. */
function lasts(wait: Wait, now: number): number {
  return wait.next === 'again' ? wait.until() - wait.since() : now - wait.since();
}

function told({ whom, because, since, ...wait }: Wait, now: number): OthersWait {
  const left = (until: number): number => Math.max(1, Math.ceil((until - now) / 1000));
  if (wait.next === 'again') {
    const again_in_seconds = left(wait.until());
    return { code: 'asked_again', params: { whom, because: because ?? null, again_in_seconds } };
  }
  const silent = Math.round((now - since()) / 1000);
  const given_up_in_seconds = wait.until === undefined ? null : left(wait.until());
  return { code: 'no_answer', params: { whom, silent_seconds: silent, given_up_in_seconds } };
}

/** `waiting for the store (SlowDown), again in 16 s`, for people. */
export function waitedText({ code, params }: OthersWait): string {
  const whom = `waiting for ${WHOM[params.whom]}`;
  if (code === 'asked_again') {
    const { because, again_in_seconds: again } = params;
    if (params.whom === 'other_session')
      return `waiting up to ${inWords(again)} to see whether another program is still at work here`;
    return `${whom}${because === null ? '' : ` (${because})`}, again in ${inWords(again)}`;
  }
  const { silent_seconds: silent, given_up_in_seconds: left } = params;
  return `${whom}: no answer for ${inWords(silent)}${left === null ? '' : `; given up in ${inWords(left)}`}`;
}

function inWords(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** Runs `work`, which shows as a wait while it lasts longer than such things do. */
export async function toldAsWait<T>(whom: Whom, work: () => Promise<T>): Promise<T> {
  const since = systemClock.monotonic();
  const end = waitsForAnswer(whom, () => since);
  try {
    return await work();
  } finally {
    end();
  }
}

const tellers: object[] = [];

/** Who tells of waits from now on, before those who did so far: `isTurn` says whether that one still does. */
export function tellWaits(): { readonly isTurn: () => boolean; readonly end: () => void } {
  const self = {};
  tellers.push(self);
  return {
    isTurn: () => tellers.at(-1) === self,
    end: () => {
      const at = tellers.indexOf(self);
      if (at !== -1) tellers.splice(at, 1);
    },
  };
}

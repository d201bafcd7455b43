/**
 * Records what this process waits for that it cannot end itself: a store that asks for time, a server that does not
 * answer. The record is global, as the code that waits does not know who could report it, and each process has one
 * reader.
 */
import { systemClock } from './clock.ts';

/** All times are those of the monotonic clock, in milliseconds. */
type Wait = {
  readonly whom: Whom;
  /** The failure's name, or a word or two; undefined while there is no answer at all. */
  readonly because: string | undefined;
  /** When something last moved. */
  readonly since: () => number;
} & (
  | { readonly next: 'again'; readonly until: () => number }
  /** Undefined where there is no time limit. */
  | { readonly next: 'given up'; readonly until: (() => number) | undefined }
);

/** Shorter waits are not worth reporting. */
const WORTH_TELLING_MS = 4_000;

/** What is waited for. */
export type Whom = keyof typeof WHOM;

const WHOM = {
  store: 'the store',
  file_system: 'the file system',
  rclone: 'rclone',
  other_session: 'another program that may be running here',
  other_change: 'another program that is changing the repository',
} as const;

/** A wait that is worth reporting. */
export type OthersWait =
  | {
      readonly code: 'asked_again';
      readonly params: {
        readonly whom: Whom;
        /** The failure's name, or a word or two. */
        readonly because: string | null;
        readonly again_in_seconds: number;
      };
    }
  | {
      readonly code: 'no_answer';
      readonly params: {
        readonly whom: Whom;
        readonly silent_seconds: number;
        /** Null where there is no time limit. */
        readonly given_up_in_seconds: number | null;
      };
    };

const waits = new Set<Wait>();

/** Records a wait of `ms` before the next try, after failures since `since`. The returned function ends it. */
export function waitsToAskAgain(
  whom: Whom,
  because: string | undefined,
  ms: number,
  since = systemClock.monotonic(),
): () => void {
  const until = systemClock.monotonic() + ms;
  return begin({ whom, because, since: () => since, until: () => until, next: 'again' });
}

/** Records a wait for an answer since that time, for at most `patienceMs`. The returned function ends it. */
export function waitsForAnswer(whom: Whom, since: () => number, patienceMs?: () => number): () => void {
  const until = patienceMs === undefined ? undefined : () => since() + patienceMs();
  return begin({ whom, because: undefined, since, until, next: 'given up' });
}

function begin(wait: Wait): () => void {
  waits.add(wait);
  return () => void waits.delete(wait);
}

/** The wait to report: the longest one; undefined when nothing has been waiting for long enough. */
export function toldWait(now = systemClock.monotonic()): OthersWait | undefined {
  let longest: Wait | undefined;
  let most = WORTH_TELLING_MS - 1;
  for (const wait of waits) {
    const ms = lasts(wait, now);
    if (ms > most || (ms === most && wait.next === 'again')) [longest, most] = [wait, ms];
  }
  return longest === undefined ? undefined : told(longest, now);
}

/** How long a wait has lasted; for one with a known end, its whole length. */
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

/** The wait in words, such as `waiting for the store (SlowDown), again in 16 s`. */
export function waitedText({ code, params }: OthersWait): string {
  const whom = `waiting for ${WHOM[params.whom]}`;
  if (code === 'asked_again') {
    const { because, again_in_seconds: again } = params;
    if (params.whom === 'other_session')
      return `waiting up to ${inWords(again)} to see whether another program is still running here`;
    return `${whom}${because === null ? '' : ` (${because})`}, again in ${inWords(again)}`;
  }
  const { silent_seconds: silent, given_up_in_seconds: left } = params;
  return `${whom}: no answer for ${inWords(silent)}${left === null ? '' : `; given up in ${inWords(left)}`}`;
}

interface LongList {
  readonly since: number;
  readonly names: () => number;
}

const lists = new Set<LongList>();

/** Records that a list of the store is being read: names keep coming, so nothing is waited for. The returned function ends it. */
export function readsList(names: () => number): () => void {
  const list = { since: systemClock.monotonic(), names };
  lists.add(list);
  return () => void lists.delete(list);
}

/** The list that has been read for longest, in words; undefined when none has taken long enough. */
export function longListText(now = systemClock.monotonic()): string | undefined {
  const [first] = [...lists].sort((a, b) => a.since - b.since);
  if (first === undefined || now - first.since < WORTH_TELLING_MS) return undefined;
  const names = first.names();
  const seconds = inWords(Math.round((now - first.since) / 1000));
  return `reading the list of the store for ${seconds}${names === 0 ? '' : `: ${names} names so far`}`;
}

function inWords(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** Runs `work`, which is reported as a wait once it takes long. */
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

/**
 * Registers a reporter of waits, which takes precedence over earlier ones until it ends. `isTurn` says whether it is
 * the current one.
 */
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

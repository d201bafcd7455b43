/**
 * Decides which notices are worth a person's attention: a change for the worse, its repetition after about a day, and
 * its end. An hourly backup that keeps failing makes one message, not twenty-four.
 */
import type { Notice } from './notice.ts';

export interface Attention {
  /** Whether to send the notice; remembers it as sent. */
  admits(notice: Notice): boolean;
  /** The notice was not delivered after all: it counts as news again in an hour. */
  missed(notice: Notice): void;
}

/** Stores what was sent, so that a restart neither repeats a failure nor forgets to report its end. */
export interface ToldBook {
  /** The text that was written last; undefined when there is none. */
  read(): string | undefined;
  /** Never throws. */
  write(text: string | undefined): void;
}

/** Delay before a receiver that refuses for good gets the same again. */
const MISSED_MS = 3_600_000;
/** Somewhat less than a day, as the next daily run may be early by its random delay. */
const REPEAT_MS = 20 * 3_600_000;
/** The most subjects that are kept, as requests can name any number of sources. */
const SUBJECTS = 1000;

export function createAttention(book?: ToldBook): Attention {
  /** Subject -> what was sent about it, and when. */
  const told = readTold(book?.read());

  function admits(notice: Notice): boolean {
    const isAdmitted = judged(notice);
    write();
    return isAdmitted;
  }

  function missed(notice: Notice): void {
    const what = whatOf(notice);
    const before = told.get(subjectOf(notice));
    if (before?.has(what) !== true) return;
    before.set(what, notice.at + MISSED_MS - REPEAT_MS);
    write();
  }

  function write(): void {
    const kept = [...told].map(([subject, what]) => [subject, [...what]]);
    book?.write(kept.length === 0 ? undefined : JSON.stringify(kept));
  }

  function judged(notice: Notice): boolean {
    const subject = subjectOf(notice);
    switch (notice.kind) {
      case 'test':
      case 'held':
      case 'restore.completed':
      case 'restore.failed':
      // The caller limits the repetitions itself, and knows when the trouble has ended meanwhile.
      case 'state.failed':
      case 'destination.gone':
        return true;
      case 'backup.started':
        return false;
      case 'backup.completed':
        return told.delete(subject);
      case 'backup.warning':
        // There is a snapshot again, so a later failure is news.
        told.get(subject)?.delete('backup.failed');
        told.get(subject)?.delete('absence');
        return isNews(subject, notice);
      case 'alarm':
      case 'backup.failed':
      case 'absence':
      case 'check.failed':
      case 'prune.failed':
      case 'drill.failed':
        return isNews(subject, notice);
    }
  }

  function isNews(subject: string, notice: Notice): boolean {
    const { at } = notice;
    const what = whatOf(notice);
    const before = told.get(subject) ?? new Map<string, number>();
    const last = before.get(what);
    if (last !== undefined && Math.abs(at - last) < REPEAT_MS) return false;
    before.set(what, at);
    told.delete(subject);
    told.set(subject, before);
    const oldest = told.keys().next().value;
    if (told.size > SUBJECTS && oldest !== undefined) told.delete(oldest);
    return true;
  }

  return { admits, missed };
}

type Told = readonly (readonly [subject: string, what: readonly (readonly [what: string, at: number])[]])[];

function readTold(text: string | undefined): Map<string, Map<string, number>> {
  const kept = text === undefined ? [] : (JSON.parse(text) as Told);
  return new Map(kept.map(([subject, what]) => [subject, new Map(what)]));
}

function subjectOf(notice: Notice): string {
  return `${topicOf(notice)}\0${notice.source ?? ''}\0${notice.destination ?? ''}`;
}

/** Identifies the message; each alarm has a message of its own. */
function whatOf({ kind, text }: Notice): string {
  return kind === 'alarm' ? text : kind;
}

/** Failures and absences share a topic, as a completed backup ends both. */
function topicOf({ kind }: Notice): string {
  return kind === 'absence' ? 'backup' : (kind.split('.')[0] ?? kind);
}

/**
 * What is worth a person's attention: a change for the worse, the same again after about a day, and that it is mended.
 * A backup each hour that fails each hour is one message, not twenty-four.
 */
import type { Notice } from './notice.ts';

export interface Attention {
  /** Whether to tell people; remembers that they were told. */
  admits(notice: Notice): boolean;
  /** They were not told after all: the same is news again in an hour. */
  missed(notice: Notice): void;
}

/** Keeps what was told, so that a restart neither tells a failure again nor forgets to say that it is mended. */
export interface ToldBook {
  /** As it was written last; undefined when there is nothing. */
  read(): string | undefined;
  /** Never throws. */
  write(text: string | undefined): void;
}

/** A receiver that refuses for good is not asked each time. */
const MISSED_MS = 3_600_000;
/** Somewhat less than a day: the next daily run may be early by its random delay. */
const REPEAT_MS = 20 * 3_600_000;
/** Sources can be named by requests, without end. */
const SUBJECTS = 1000;

export function createAttention(book?: ToldBook): Attention {
  /** Subject -> what was told about it, and when. */
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
      case 'restore.completed':
      case 'restore.failed':
      // Whoever says it sees to it that it is said seldom, and knows when it was mended meanwhile.
      case 'state.failed':
        return true;
      case 'backup.started':
        return false;
      case 'backup.completed':
        return told.delete(subject);
      case 'backup.warning':
        // There is a snapshot again: a failure after it is news.
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

/** Each alarm says something of its own. */
function whatOf({ kind, text }: Notice): string {
  return kind === 'alarm' ? text : kind;
}

/** A completed backup mends both a failed one and an absence. */
function topicOf({ kind }: Notice): string {
  return kind === 'absence' ? 'backup' : (kind.split('.')[0] ?? kind);
}

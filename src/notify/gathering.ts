/**
 * Gathers for people what happens to many sources at once, such as a disk that is unplugged with thirty of them. The first
 * notice is sent at once; those of the same cause that follow within minutes become one. Programs get each of them.
 */
import type { Clock } from '../base/clock.ts';
import { createNotice, type Notice } from './notice.ts';

/** Milliseconds for which notices are gathered after one was sent. */
export const GATHER_MS = 180_000;
/** The most sources that one notice lists. */
const MOST_LISTED = 100;

interface Gathered {
  readonly held: Notice[];
  /** Of those that were sent or are held: one that comes again is news about its source alone. */
  readonly subjects: Set<string>;
}

export interface GatheringParts {
  readonly clock: Clock;
  readonly send: (notice: Notice) => void;
}

/** Of one receiver. */
export class Gathering {
  readonly #parts: GatheringParts;
  /** By cause, as long as notices of that cause are gathered. */
  readonly #open = new Map<string, Gathered>();
  /** Refusals of emptied sources that were told, with their times. Their alarms would say the same again. */
  readonly #emptied = new Map<string, number>();
  readonly #over = new AbortController();

  constructor(parts: GatheringParts) {
    this.#parts = parts;
  }

  take(notice: Notice): void {
    if (this.#saysAgain(notice)) return;
    const cause = causeOf(notice);
    if (cause === undefined || this.#over.signal.aborted) {
      this.#parts.send(notice);
      return;
    }
    const subject = JSON.stringify([notice.source, notice.destination]);
    const gathered = this.#open.get(cause);
    if (gathered !== undefined && !gathered.subjects.has(subject)) {
      gathered.subjects.add(subject);
      gathered.held.push(notice);
      return;
    }
    this.#parts.send(notice);
    if (gathered === undefined) void this.#gather(cause, { held: [], subjects: new Set([subject]) });
  }

  /** Sends what is held, and gathers no more. */
  end(): void {
    this.#over.abort();
    for (const { held } of this.#open.values()) this.#send(held.splice(0));
    this.#open.clear();
  }

  async #gather(cause: string, gathered: Gathered): Promise<void> {
    const { clock } = this.#parts;
    this.#open.set(cause, gathered);
    let sent: number;
    do {
      try {
        await clock.sleep(GATHER_MS, this.#over.signal);
      } catch {
        // `end` has sent them.
        return;
      }
      sent = gathered.held.length;
      this.#send(gathered.held.splice(0));
    } while (sent > 0);
    this.#open.delete(cause);
  }

  #send(held: readonly Notice[]): void {
    const [first, ...others] = held;
    if (first === undefined) return;
    this.#parts.send(others.length === 0 ? first : together([first, ...others], this.#parts.clock));
  }

  #saysAgain({ kind, source, job, at, isSaidByJob }: Notice): boolean {
    if (source === null) return false;
    if (kind === 'backup.failed' && job?.errorCode === 'SOURCE_SUSPICIOUSLY_EMPTY')
      this.#emptied.set(source, at);
    if (kind !== 'alarm' || isSaidByJob !== true) return false;
    const told = this.#emptied.get(source);
    this.#emptied.delete(source);
    return told !== undefined && Math.abs(at - told) < GATHER_MS;
  }
}

/** Undefined for what is never gathered. */
function causeOf({ kind, source, job }: Notice): string | undefined {
  if (source === null) return undefined;
  if (kind === 'alarm') return kind;
  if (kind !== 'backup.failed' || job?.errorCode == null) return undefined;
  return `${kind} ${job.errorCode}`;
}

const parts = new WeakMap<Notice, readonly Notice[]>();

/** The notices that a notice stands for: itself, or those that it gathers. */
export function partsOf(notice: Notice): readonly Notice[] {
  return parts.get(notice) ?? [notice];
}

/** A notice that stands for others, each of which may be such a notice itself. */
export function listed(notice: Notice, others: readonly Notice[]): Notice {
  parts.set(notice, others.flatMap(partsOf));
  return notice;
}

function together(held: readonly [Notice, ...Notice[]], clock: Clock): Notice {
  const [{ kind, host, job, destination }] = held;
  const code = job?.errorCode ?? null;
  const what =
    kind === 'alarm'
      ? `${held.length} more alarms were raised at about the same time:`
      : `${held.length} more backups failed at about the same time and for the same reason (${code}):`;
  const lines = held.slice(0, MOST_LISTED).map((one) => `- ${lineOf(one)}`);
  const more = held.length > MOST_LISTED ? [`- and ${held.length - MOST_LISTED} more`] : [];
  const facts = {
    kind,
    host,
    destination: held.every((one) => one.destination === destination) ? destination : null,
    text: [what, ...lines, ...more].join('\n'),
  };
  return listed(createNotice(facts, clock), held);
}

function lineOf({ kind, source, destination, text }: Notice): string {
  if (kind === 'alarm') return text;
  const to = destination === null ? '' : ` to ${destination}`;
  return `${source}${to}: ${text}`;
}

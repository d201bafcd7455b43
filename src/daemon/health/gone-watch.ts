/**
 * Sends a notice when the backups at a destination are gone: no job fails then, as backups wait for a folder that is not
 * there, and their absence would be told only after days.
 */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { adviceOf, sentenceOf } from '../../jobs/protection.ts';
import type { FullStatus } from '../../jobs/agent.ts';
import { createNotice } from '../../notify/notice.ts';
import type { Notifier } from '../../notify/notifier.ts';

export interface GoneParts {
  readonly status: () => Promise<Pick<FullStatus, 'statements' | 'checks'>>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
}

/** Looks in a row that must find it, as somebody may be moving the folder. */
const TWICE = 2;
/** Milliseconds until the notice is repeated. */
const AGAIN_MS = 24 * 3_600_000;

interface Seen {
  readonly looks: number;
  /** Milliseconds since 1970; null before the first notice. */
  readonly toldAt: number | null;
}

export class GoneWatch {
  readonly #parts: GoneParts;
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(parts: GoneParts) {
    this.#parts = parts;
  }

  /** To be called periodically. */
  async look(): Promise<void> {
    const { status, notifier, clock } = this.#parts;
    const { statements, checks } = await status();
    const nowMs = clock.now();
    const seen = new Map<string, Seen>();
    for (const one of statements.filter(({ code }) => code === 'destination_gone')) {
      const text = `${sentenceOf(one, checks, nowMs)} ${adviceOf(one)}`;
      for (const destination of one.to) {
        const { looks, toldAt } = this.#seen.get(destination) ?? { looks: 0, toldAt: null };
        // A time in the future was noted while the clock was wrong.
        const isDue = toldAt === null || nowMs - toldAt >= AGAIN_MS || toldAt > nowMs;
        const tells = looks + 1 >= TWICE && isDue;
        seen.set(destination, { looks: looks + 1, toldAt: tells ? nowMs : toldAt });
        if (tells)
          notifier.notify(
            createNotice({ kind: 'destination.gone', host: hostname(), destination, text }, clock),
          );
      }
    }
    this.#seen = seen;
  }
}

/**
 * Holds for a person what can wait while the settings ask for quiet, and sends it as one notice afterwards. What is bad
 * is never held, and programs are not asked to wait.
 */
import type { Clock } from '../base/clock.ts';
import { zonedTime } from '../base/units.ts';
import { withShortLog } from './delivery.ts';
import { listed } from './gathering.ts';
import { createNotice, type Notice, severityOf, titleOf } from './notice.ts';

/** The most notices that are held for one receiver; older ones are given up. */
const MOST_HELD = 100;

export interface HoldingParts {
  readonly clock: Clock;
  readonly isQuiet: () => boolean;
  readonly send: (notice: Notice) => void;
  /** Called with each notice that is given up because too many are held. */
  readonly givenUp: (notice: Notice) => void;
  /** Stores what is held; undefined when nothing is. Never throws. */
  readonly keep: (text: string | undefined) => void;
}

/** Of one receiver. */
export class Holding {
  readonly #parts: HoldingParts;
  readonly #held: Notice[];

  /** @param before what was kept when the agent ended */
  constructor(parts: HoldingParts, before: string | undefined) {
    this.#parts = parts;
    this.#held = before === undefined ? [] : (JSON.parse(before) as Notice[]);
  }

  get held(): readonly Notice[] {
    return this.#held;
  }

  /** Returns whether the notice is held; otherwise it is to be sent now. */
  takes(notice: Notice): boolean {
    if (!this.#parts.isQuiet()) {
      // What came earlier is told earlier.
      this.release();
      return false;
    }
    if (severityOf(notice.kind) === 'bad') return false;
    this.#held.push(withShortLog(notice));
    for (const old of this.#held.splice(0, this.#held.length - MOST_HELD)) this.#parts.givenUp(old);
    this.#parts.keep(JSON.stringify(this.#held));
    return true;
  }

  /** Sends what is held, unless it is still quiet. To be called when the hours may be over. */
  release(): void {
    const [first, ...others] = this.#held;
    if (first === undefined || this.#parts.isQuiet()) return;
    this.#held.length = 0;
    this.#parts.send(others.length === 0 ? first : together([first, ...others], this.#parts.clock));
    this.#parts.keep(undefined);
  }
}

function together(held: readonly [Notice, ...Notice[]], clock: Clock): Notice {
  const lines = [`${held.length} notices waited for the end of the quiet hours:`, ...held.map(lineOf)];
  return listed(createNotice({ kind: 'held', host: held[0].host, text: lines.join('\n') }, clock), held);
}

function lineOf(notice: Notice): string {
  const to = notice.destination === null ? '' : ` to ${notice.destination}`;
  return `- ${zonedTime(notice.at)} ${titleOf(notice)}${to}: ${notice.text}`;
}

/** A few sessions to one server, opened as they are needed and again when they are lost. */
import { DestinationError } from '../../base/errors.ts';
import { connect } from './connect.ts';
import type { Target } from './connect.ts';
import { Lane } from './lane.ts';

/** With so many operations on each, the other sessions are opened too. */
const busyLoad = 2;

/** Transfers on one session while others are being opened: the rest wait for those, and are spread over all. */
const mostTransfers = 3;

export class Lanes {
  readonly #target: Target;
  /** Falls when the server lets in no more. */
  #most: number;
  readonly #lanes = new Set<Lane>();
  readonly #opening = new Set<Promise<Lane>>();
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();

  constructor(target: Target, most: number) {
    this.#target = target;
    this.#most = most;
  }

  /** Runs `work` on the session that has the least to do. A session that was lost before is replaced. */
  async run<T>(kind: 'transfer' | 'question', work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = await this.#take(kind);
    try {
      return await work(lane);
    } finally {
      lane.load -= 1;
      this.#waiting.shift()?.();
    }
  }

  close(): void {
    this.#closing.abort(new DestinationError('unreachable', `${this.#target.url} was closed`));
    for (const lane of this.#lanes) lane.end();
  }

  /** Counts the operation at once: whoever comes next must see it. */
  async #take(kind: 'transfer' | 'question'): Promise<Lane> {
    for (;;) {
      const idlest = this.#idlest();
      if (idlest === undefined) {
        // The first alone: whether one is let in at all shows there.
        const [first] = this.#opening;
        await (first ?? this.#open());
        continue;
      }
      if (idlest.load >= busyLoad) this.#openOthers();
      if (kind === 'question' || idlest.load < mostTransfers || this.#opening.size === 0) {
        idlest.load += 1;
        return idlest;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #idlest(): Lane | undefined {
    let idlest: Lane | undefined;
    for (const lane of this.#lanes) if (idlest === undefined || lane.load < idlest.load) idlest = lane;
    return idlest;
  }

  #openOthers(): void {
    while (this.#lanes.size + this.#opening.size < this.#most)
      this.#open().catch(() => {
        // Some servers allow one or two: those there are do the work.
        this.#most = Math.max(1, this.#lanes.size);
      });
  }

  async #open(): Promise<Lane> {
    const opening = connect(this.#target, this.#closing.signal).then((connection) => {
      const lane = new Lane(connection, this.#target.url, (lost) => this.#lanes.delete(lost));
      this.#lanes.add(lane);
      return lane;
    });
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }
}

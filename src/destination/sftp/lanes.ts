/** A few sessions to one server, opened as they are needed and again when they are lost. */
import { DestinationError } from '../../base/errors.ts';
import { anotherSession, connect } from './connect.ts';
import type { Connection } from './connect.ts';
import { Lane } from './lane.ts';
import type { Target } from './target.ts';

/** With so many operations on each, the other sessions are opened too. */
const busyLoad = 2;

/**
 * Sessions on one connection: ssh2 and OpenSSH let two megabytes be under way on each, which at a distance of 80 ms is
 * 10 to 20 MB a second.
 */
const sessionsEach = 3;

/** Transfers on one session while others are being opened: the rest wait for those, and are spread over all. */
const mostTransfers = 3;

export class Lanes {
  readonly #target: Target;
  readonly #wanted: number;
  /** Falls when the server lets in no more, until everything begins anew. */
  #most: number;
  readonly #lanes = new Set<Lane>();
  /** With the number of their sessions, those being opened included. */
  readonly #connections = new Map<Connection['client'], number>();
  readonly #opening = new Set<Promise<Lane>>();
  #connecting = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();

  constructor(target: Target, most: number) {
    this.#target = target;
    this.#wanted = most;
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
        this.#most = this.#wanted;
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
    for (const { connection } of this.#lanes) {
      const sessions = this.#connections.get(connection.client) ?? sessionsEach;
      if (sessions >= sessionsEach) continue;
      this.#connections.set(connection.client, sessions + 1);
      this.#track(anotherSession(connection, this.#target.url).then((another) => this.#add(another))).catch(
        () => undefined,
      );
    }
    while (this.#connections.size + this.#connecting < this.#most)
      this.#open().catch(() => {
        // Some servers allow one or two: those there are do the work.
        this.#most = Math.max(1, this.#connections.size);
      });
  }

  async #open(): Promise<Lane> {
    this.#connecting += 1;
    const opening = connect(this.#target, this.#closing.signal)
      .then((connection) => {
        this.#connections.set(connection.client, 1);
        connection.client.once('close', () => this.#connections.delete(connection.client));
        return this.#add(connection);
      })
      .finally(() => {
        this.#connecting -= 1;
      });
    return await this.#track(opening);
  }

  #add(connection: Connection): Lane {
    const lane = new Lane(connection, this.#target.url, (lost) => {
      this.#lanes.delete(lost);
      this.#connections.delete(connection.client);
    });
    this.#lanes.add(lane);
    return lane;
  }

  /** Whoever waits looks again when it has come to an end. */
  async #track(opening: Promise<Lane>): Promise<Lane> {
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }
}

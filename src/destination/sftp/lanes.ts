/** A few sessions to one server, opened when needed and replaced when lost. */
import { DestinationError } from '../../base/errors.ts';
import { anotherSession, connect } from './connect.ts';
import type { Connection } from './connect.ts';
import { Lane } from './lane.ts';
import type { Target } from './target.ts';

/** When each session has this many operations, more sessions are opened. */
const busyLoad = 2;

/**
 * Sessions per connection. ssh2 and OpenSSH allow two megabytes under way on each, which at a round trip of 80 ms is 10
 * to 20 MB a second.
 */
const sessionsEach = 3;

/** Most transfers on one session while others are being opened: further ones wait, so that they are spread over all. */
const mostTransfers = 3;

export class Lanes {
  readonly #target: Target;
  readonly #wanted: number;
  /** Reduced when the server accepts no more connections, and restored once all sessions are gone. */
  #most: number;
  readonly #lanes = new Set<Lane>();
  /** The number of sessions of each connection, including those being opened. */
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

  /** Runs `work` on the session with the least to do. Lost sessions are replaced. */
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

  /** Counts the operation at once, so that concurrent callers see it. */
  async #take(kind: 'transfer' | 'question'): Promise<Lane> {
    for (;;) {
      const idlest = this.#idlest();
      if (idlest === undefined) {
        // The first session is opened alone: it shows whether the server accepts this account at all.
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
        // Some servers allow one or two connections; those that exist do the work.
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

  /** Wakes all waiting callers once the opening has ended, successfully or not. */
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

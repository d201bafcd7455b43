import type { Clock } from '../base/clock.ts';
import { RepositoryError } from '../base/errors.ts';
import { signEd25519, verifyEd25519 } from '../codec/curves.ts';
import { ObjectKeys, refuseReading, unknownGeneration } from '../codec/keys.ts';
import type { Destination, ListedObject } from '../destination/destination.ts';
import { requireFormat } from '../format/header.ts';
import type { Keyring } from '../format/keyring.ts';
import type { ConfigRecord } from '../format/records.ts';
import { type Ledger, NO_LEDGER } from './ledger.ts';
import { type MetadataCache, NO_CACHE } from './metadata-cache.ts';
import { inTurn } from './objects/parallel.ts';
import { rememberSeen } from './remember-seen.ts';
import { ringNumbers, ringOrCopy } from './slots/key-files.ts';
import type { OpenSlot } from './slots/key-slots.ts';
import { WriterState } from './writer-state.ts';

interface RepositoryParts {
  readonly destination: Destination;
  readonly clock: Clock;
  readonly config: ConfigRecord;
  readonly writer: WriterState;
  readonly keyring: Keyring;
  readonly ringNumber: number;
  readonly slot: OpenSlot;
  readonly cache?: MetadataCache;
  readonly ledger?: Ledger | undefined;
  readonly look?: Look | undefined;
}

/** The keys held at present: replaced when another host has changed the keyring. */
interface HeldKeys {
  keyring: Keyring;
  ringNumber: number;
  readonly keys: ObjectKeys;
}

/** The view of a remote destination at the beginning of a run. */
export interface Look {
  /** From here on every list comes from the destination. */
  end(): void;
  /** The objects that were stored through the view since the last call, where the destination protects objects for a time. */
  takeStored(): readonly ListedObject[];
}

/** An open repository: a destination, the keys to it and its parameters. */
export class Repository {
  readonly destination: Destination;
  readonly clock: Clock;
  readonly config: ConfigRecord;
  readonly writer: WriterState;
  readonly slot: OpenSlot;
  /** For operations that only read or add. Checks of the whole repository, and removals, do not use it. */
  readonly cache: MetadataCache;
  /** Replaces index objects and trees where a write-only key cannot read them. */
  readonly ledger: Ledger;
  /** The view of a remote destination at the beginning of a run, if there is one. */
  readonly look: Look | undefined;
  readonly #parts: RepositoryParts;
  readonly #held: HeldKeys;
  #following: Promise<void> = Promise.resolve();

  constructor(parts: RepositoryParts, held?: HeldKeys) {
    this.#parts = parts;
    this.destination = parts.destination;
    this.clock = parts.clock;
    this.config = parts.config;
    this.writer = parts.writer;
    this.slot = parts.slot;
    this.cache = parts.cache ?? NO_CACHE;
    this.ledger = parts.ledger ?? NO_LEDGER;
    this.look = parts.look;
    const { keyring, ringNumber, writer } = parts;
    this.#held = held ?? { keyring, ringNumber, keys: objectKeysOf(keyring, writer) };
  }

  get keyring(): Keyring {
    return this.#held.keyring;
  }

  get ringNumber(): number {
    return this.#held.ringNumber;
  }

  get keys(): ObjectKeys {
    return this.#held.keys;
  }

  /** Whether the repository was opened with a write-only key. */
  get isWriteOnly(): boolean {
    return this.keyring.grantedTo !== undefined;
  }

  /**
   * Call this before reading anything that a write-only key cannot open; the failure would otherwise look like damage.
   * @throws {RepositoryError} REFUSED
   */
  requireReading(): void {
    if (this.isWriteOnly) throw refuseReading();
  }

  /** 32 hex digits. */
  get id(): string {
    return this.keyring.repository.toString('hex');
  }

  /** The same repository, with its metadata read through `cache`. */
  cachedBy(cache: MetadataCache): Repository {
    return new Repository({ ...this.#parts, cache }, this.#held);
  }

  /**
   * Runs `open`. If the object it opens is sealed under keys that another host has made since, adopts the newest
   * keyring and runs `open` again.
   * @throws {RepositoryError} WRONG_PASSPHRASE when the key that opened this repository was removed
   * @throws {DestinationError}
   */
  async withKeys<T>(open: () => T, signal: AbortSignal): Promise<T> {
    try {
      return open();
    } catch (error) {
      const generation = unknownGeneration(error);
      if (generation === undefined) throw error;
      await this.followRing(signal);
      if (!this.keys.knows(generation)) throw error;
      return open();
    }
  }

  /**
   * Adopts the newest keyring when another host has changed the keys since this repository was opened. Worker threads
   * that were given keys before that keep those.
   * @throws {RepositoryError} WRONG_PASSPHRASE when the key that opened this repository was removed, NEWER_FORMAT when the
   * repository was upgraded to a format that this program does not know
   * @throws {DestinationError}
   */
  async followRing(signal: AbortSignal): Promise<void> {
    const before = this.#following;
    const mine = (async (): Promise<void> => {
      await Promise.allSettled([before]);
      await this.#followNow(signal);
    })();
    this.#following = mine;
    await mine;
  }

  async #followNow(signal: AbortSignal): Promise<void> {
    this.lookAnew();
    const newer = (await ringNumbers(this.destination, signal)).filter((n) => n > this.ringNumber);
    const look = async (
      n: number,
    ): Promise<{ readonly n: number; readonly keyring: Keyring | undefined }> => ({
      n,
      keyring: await ringOrCopy(this.destination, n, this.slot, signal),
    });
    for await (const { n, keyring } of inTurn(newer, this.destination.properties.maxParallel, look)) {
      // An object that is not a valid ring is passed over, as when a repository is opened.
      if (keyring === undefined) continue;
      requireFormat(keyring.minFormat);
      await this.adoptRing(keyring, n, signal);
      return;
    }
  }

  /** Makes this keyring, ring number `n`, the one in force. @throws {DestinationError} */
  async adoptRing(keyring: Keyring, n: number, signal: AbortSignal): Promise<void> {
    await rememberSeen(this.destination, this.writer, { ring: n }, signal);
    this.keys.adopt(keyring.generations);
    this.#held.keyring = keyring;
    this.#held.ringNumber = n;
  }

  /** The same repository, with `ledger` as this machine's record of what it stored there. */
  notedIn(ledger: Ledger): Repository {
    return new Repository({ ...this.#parts, ledger }, this.#held);
  }

  /** From here on every list comes from the destination. Call it before anything that must not rely on an earlier listing. */
  lookAnew(): void {
    this.look?.end();
  }

  /** Signs a tombstone or configuration: `domain` is `hf1/tomb` or `hf1/config`. */
  sign(domain: string, unsigned: Buffer): Buffer {
    if (this.keyring.admin === undefined) {
      throw new RepositoryError('REFUSED', 'This host can add snapshots, but not remove any', {
        hint: 'Run forget, prune and settings changes from a host with administrator rights.',
      });
    }
    return signEd25519(
      this.keyring.admin,
      Buffer.concat([Buffer.from(domain), this.keyring.repository, unsigned]),
    );
  }

  signed(domain: string, unsigned: Buffer, signature: Buffer): boolean {
    const message = Buffer.concat([Buffer.from(domain), this.keyring.repository, unsigned]);
    return verifyEd25519(this.keyring.adminPublic, message, signature);
  }

  async close(): Promise<void> {
    await this.destination.close();
  }
}

export function objectKeysOf(keyring: Keyring, writer: WriterState): ObjectKeys {
  return new ObjectKeys({
    repository: keyring.repository,
    writer: Buffer.from(writer.memory.writer, 'hex'),
    idData: keyring.idData,
    idTree: keyring.idTree,
    idPlain: keyring.idPlain,
    cdc: keyring.cdc,
    generations: keyring.generations,
    writeOnly: keyring.grantedTo,
  });
}

import { randomBytes } from 'node:crypto';
import { RepositoryError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import type { Clock } from '../base/clock.ts';
import { generateKeys, signEd25519, verifyEd25519 } from '../codec/curves.ts';
import { type ChunkerParameters, DEFAULT_CHUNKER } from '../codec/chunker.ts';
import type { Argon2Cost } from '../codec/kdf.ts';
import { type ObjectKeys, refuseReading, unknownGeneration } from '../codec/keys.ts';
import type { Destination } from '../destination/destination.ts';
import { FORMAT, WRITE_ONLY_FORMAT } from '../format/header.ts';
import type { Keyring } from '../format/keyring.ts';
import type { ConfigRecord } from '../format/records.ts';
import { sealConfig } from './configuration.ts';
import type { FirstLook } from './first-look.ts';
import { objectKeysOf, openInForce } from './in-force.ts';
import { inTurn } from './objects/parallel.ts';
import { readKeyFiles, ringNumbers, ringOrCopy } from './slots/key-files.ts';
import { createSlot, type OpenSlot, sealRing, type Secret } from './slots/key-slots.ts';
import { type Ledger, NO_LEDGER } from './ledger.ts';
import { type MetadataCache, NO_CACHE } from './metadata-cache.ts';
import { requireFree, storeNew } from './new-objects.ts';
import { rememberIfLasting, rememberSeen } from './remember-seen.ts';
import { WriterState } from './writer-state.ts';

export interface OpenOptions {
  readonly clock: Clock;
  /** Where this host keeps its memory of repositories; undefined: a new writer each time. */
  readonly stateDirectory: string | undefined;
  /** Accept passphrase costs below the floor of the format; for tests. */
  readonly allowWeakCost?: boolean;
  /** The look whose view the destination is, if it is one: the first requests of a run are then answered from it. */
  readonly look?: FirstLook | undefined;
}

export interface CreateOptions extends OpenOptions {
  /** The first slots; at least one. */
  readonly secrets: readonly { readonly secret: Secret; readonly label: string }[];
  readonly cost: Argon2Cost;
  readonly chunker?: ChunkerParameters;
  readonly packTarget?: number;
  readonly segmentTarget?: number;
  readonly graceSeconds?: number;
  /** Take chunk-id and chunker keys and sizes from this repository, so that work can be shared between both. */
  readonly like?: Repository;
}

/** 32 MiB; tests use smaller packs. */
const PACK_TARGET = 33_554_432;
/** 2 MiB: 1.4 % smaller than 1 MiB on a source tree (docs/architecture.md), still one quick read for a single file. */
const SEGMENT_TARGET = 2_097_152;
/** 72 h of storage time between marking and deleting. */
const GRACE_SECONDS = 259_200;

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
  readonly look?: FirstLook | undefined;
}

/** The keys held at present: replaced when another host has changed the keyring. */
interface HeldKeys {
  keyring: Keyring;
  ringNumber: number;
  readonly keys: ObjectKeys;
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
  readonly look: FirstLook | undefined;
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
   * @throws {RepositoryError} WRONG_PASSPHRASE when the key that opened this repository was removed
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
      throw new RepositoryError('REFUSED', 'This host may add snapshots but not remove any', {
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

/**
 * Makes a new repository in an empty destination.
 * @throws {RepositoryError} REPOSITORY_EXISTS when there is one already; REPOSITORY_LOCKED when one is being made
 */
export async function createRepository(
  destination: Destination,
  options: CreateOptions,
  signal: AbortSignal,
): Promise<Repository> {
  options.look?.end();
  options.like?.requireReading();
  await requireFree(destination, signal);
  const repository = randomBytes(16);
  const ringAuth = randomBytes(32);
  const createdMs = options.clock.now();
  const slots = [];
  for (const { secret, label } of options.secrets) {
    slots.push(await createSlot(repository, secret, ringAuth, { label, createdMs, cost: options.cost }));
  }
  const first = slots[0];
  if (first === undefined)
    throw new RepositoryError('REFUSED', 'A repository needs at least one passphrase or key');
  const keyring = newKeyring(
    repository,
    slots.map((slot) => slot.known),
    options.like?.keyring,
  );
  const config: ConfigRecord = {
    repository,
    minFormat: FORMAT,
    createdMs,
    chunker: options.like?.config.chunker ?? options.chunker ?? DEFAULT_CHUNKER,
    packTarget: options.packTarget ?? PACK_TARGET,
    segmentTarget: options.segmentTarget ?? SEGMENT_TARGET,
    graceSeconds: options.graceSeconds ?? GRACE_SECONDS,
  };
  const writer = await WriterState.open(options.stateDirectory, repository.toString('hex'));
  const parts = {
    destination,
    clock: options.clock,
    config,
    writer,
    keyring,
    ringNumber: 1,
    slot: first.open,
    look: options.look,
  };
  const created = new Repository(parts);
  const number = await storeNew(
    destination,
    {
      slots: new Map(slots.map(({ known, file }) => [`keys/${known.slot}`, file])),
      ring: sealRing(keyring, 1, ringAuth),
      configAt: (n) => sealConfig(created, config, n),
    },
    signal,
  );
  await writer.remember({ ring: 1, config: number });
  return created;
}

/**
 * Opens the repository in a destination.
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, CORRUPT_DATA, NEWER_FORMAT, REFUSED
 */
export async function openRepository(
  destination: Destination,
  secret: Secret,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<Repository> {
  const files = await readKeyFiles(destination, signal);
  if (files.slots.length === 0 && files.damaged.length === 0) {
    throw new RepositoryError('NO_REPOSITORY', `There is no repository at ${destination.properties.url}`, {
      hint: `Check the location, or create a repository there with: ${holdfast`init`}`,
    });
  }
  const { slot, keyring, ringNumber, writer, config, number, bound, passed } = await openInForce(
    destination,
    files,
    secret,
    options,
    signal,
  );
  const seen = { ring: ringNumber, config: bound ? number : 0 };
  requireNotOlder(writer, seen, passed);
  if (config.minFormat > WRITE_ONLY_FORMAT || keyring.minFormat > WRITE_ONLY_FORMAT) {
    throw new RepositoryError('NEWER_FORMAT', 'The repository needs a newer version of Holdfast', {
      hint: 'Update Holdfast on this machine.',
    });
  }
  await rememberIfLasting(destination, writer, seen, signal);
  const { clock, look } = options;
  const repository = new Repository({
    destination,
    clock,
    config,
    writer,
    keyring,
    ringNumber,
    slot,
    look,
  });
  look?.opened(repository);
  return repository;
}

/**
 * @param passed why a newer ring or configuration could not be used; it is then the error to report
 * @throws {RepositoryError} CORRUPT_DATA, REFUSED
 */
function requireNotOlder(
  writer: WriterState,
  seen: { readonly ring: number; readonly config: number },
  passed: Error | undefined,
): void {
  try {
    writer.requireNotOlder(seen);
  } catch (error) {
    if (passed === undefined) throw error;
    throw new RepositoryError('CORRUPT_DATA', passed.message, {
      hint: "Bring it back from a copy of the repository. To do with the one before it, delete this machine's memory of the repository.",
      cause: passed,
    });
  }
}

function newKeyring(repository: Buffer, slots: Keyring['slots'], like: Keyring | undefined): Keyring {
  const admin = generateKeys('ed25519');
  return {
    repository,
    idData: like?.idData ?? randomBytes(32),
    idTree: like?.idTree ?? randomBytes(32),
    idPlain: like?.idPlain ?? randomBytes(32),
    cdc: like?.cdc ?? randomBytes(32),
    admin: admin.private,
    adminPublic: admin.public,
    generations: [{ g: 1, key: randomBytes(32), state: 'current' }],
    minFormat: FORMAT,
    slots,
  };
}

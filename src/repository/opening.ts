/** Makes a repository in an empty destination, and opens one. */
import { randomBytes } from 'node:crypto';
import { RepositoryError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { type ChunkerParameters, DEFAULT_CHUNKER } from '../codec/chunker.ts';
import { generateKeys } from '../codec/curves.ts';
import type { Argon2Cost } from '../codec/kdf.ts';
import type { Destination } from '../destination/destination.ts';
import { FORMAT, requireFormat } from '../format/header.ts';
import type { Keyring } from '../format/keyring.ts';
import type { ConfigRecord } from '../format/records.ts';
import { sealConfig } from './configuration.ts';
import { openInForce, type OpenOptions } from './in-force.ts';
import { requireFree, storeNew } from './new-objects.ts';
import { rememberIfLasting } from './remember-seen.ts';
import { Repository } from './repository.ts';
import { readKeyFiles } from './slots/key-files.ts';
import { createSlot, sealRing, type Secret } from './slots/key-slots.ts';
import { WriterState } from './writer-state.ts';

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
  requireFormat(Math.max(config.minFormat, keyring.minFormat));
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
      hint: "Restore it from a copy of the repository. To use the one before it instead, delete this machine's memory of the repository.",
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

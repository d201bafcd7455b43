import { randomBytes } from 'node:crypto';
import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import type { Argon2Cost } from '../../codec/kdf.ts';
import { WRITE_ONLY_FORMAT } from '../../format/header.ts';
import type { Keyring, KnownSlot, SlotKind } from '../../format/keyring.ts';
import type { Destination } from '../../destination/destination.ts';
import { readKeyFiles } from '../slots/key-files.ts';
import { createSlot, openSlots, type Secret } from '../slots/key-slots.ts';
import { MOST_SLOTS, planTries } from '../slots/slot-cost.ts';
import { sha256 } from '../objects/objects.ts';
import { replaceRing } from './replace-ring.ts';
import { deleteTwice, putCopy } from '../objects/second-copies.ts';
import type { Repository } from '../repository.ts';
import { isDamage } from '../chunk-index.ts';
import { decodeSlot } from '../slots/slot-file.ts';

/**
 * Readers accept 1,000 generations (docs/repository-format.md). Rotation stops earlier, since removing keys needs
 * further generations.
 */
const MOST_ROTATED = 900;
const MOST_GENERATIONS = 1_000;

export interface KeyInfo {
  /** 32 hex digits. */
  readonly slot: string;
  readonly kind: SlotKind;
  /** Number of a write-only key, by which snapshots tell which key stored them. */
  readonly number?: number | undefined;
  readonly label: string;
  /** Undefined when the slot file is missing or damaged. */
  readonly createdMs: number | undefined;
  /** The slot this repository was opened with. */
  readonly current: boolean;
  /** `unknown`: the keyring does not list the slot, so it opens nothing; an interrupted `addKey` leaves such slots. */
  readonly state: 'sound' | 'missing' | 'damaged' | 'unknown';
}

/** The result of a change: the same repository, which uses the changed keys from here on. */
export interface KeyChange {
  readonly repository: Repository;
  readonly slot: string;
}

export interface NewKey {
  readonly secret: Secret;
  readonly label: string;
  /** Used for passphrases only. */
  readonly cost: Argon2Cost;
}

/** Every key slot, those in the keyring first. */
export async function listKeys(repository: Repository, signal: AbortSignal): Promise<KeyInfo[]> {
  repository.requireReading();
  const slots = knownSlots(repository.keyring);
  const keys: KeyInfo[] = [];
  for (const { slot, kind, label, file } of slots) {
    const stored = await readSlotFile(repository, slot, signal);
    const sound =
      stored?.slot !== undefined && (file === undefined || file.toString('hex') === stored.digest);
    keys.push({
      slot,
      kind,
      number: repository.keyring.writeOnly?.keys.find((key) => key.slot === slot)?.number,
      label,
      createdMs: stored?.slot?.createdMs,
      current: slot === repository.slot.slot,
      state: stored === undefined ? 'missing' : sound ? 'sound' : 'damaged',
    });
  }
  for await (const page of repository.destination.list('keys/', signal)) {
    for (const { key } of page) {
      const name = key.slice('keys/'.length);
      if (!/^[0-9a-f]{32}$/.test(name) || slots.some(({ slot }) => slot === name)) continue;
      const stored = await readSlotFile(repository, name, signal);
      if (stored?.slot === undefined) continue;
      const { kind, label, createdMs } = stored.slot;
      keys.push({ slot: name, kind, label, createdMs, current: false, state: 'unknown' });
    }
  }
  return keys;
}

/**
 * Lets another secret open the repository. The slot is stored first, then the keyring that lists it; in between, the
 * new secret opens nothing and the old ones still open the repository.
 *
 * @throws {RepositoryError} REPOSITORY_LOCKED when the keys are changed elsewhere at the same time; REFUSED or
 * LIMIT_EXCEEDED when the new one would not open the repository
 */
export async function addKey(repository: Repository, key: NewKey, signal: AbortSignal): Promise<KeyChange> {
  repository.requireReading();
  await repository.followRing(signal);
  const { keyring, destination, slot } = repository;
  if (knownSlots(keyring).length >= MOST_SLOTS) {
    throw new RepositoryError('LIMIT_EXCEEDED', 'The repository has 64 keys, which is the limit', {
      hint: 'Remove one that is no longer needed.',
    });
  }
  const facts = { label: key.label, cost: key.cost, createdMs: repository.clock.now() };
  const check = key.secret.kind === 'write-only' ? keyring.adminPublic : slot.ringAuth;
  const { file, known } = await createSlot(keyring.repository, key.secret, check, facts);
  await destination.put(`keys/${known.slot}`, file, signal);
  await putCopy(destination, `keys/${known.slot}`, file, signal);
  await requireOpens(destination, known.slot, key.secret, signal);
  await replaceRing(repository, withSlot(keyring, known), signal);
  return { repository, slot: known.slot };
}

/**
 * Opens the new slot just as opening the repository would. Otherwise a key that opens nothing could replace one that
 * does.
 */
async function requireOpens(
  destination: Destination,
  slot: string,
  secret: Secret,
  signal: AbortSignal,
): Promise<void> {
  const refusal = await whyNotOpened(destination, slot, secret, signal);
  if (refusal === undefined) return;
  if (destination.properties.canDelete) await deleteTwice(destination, `keys/${slot}`, signal);
  throw refusal;
}

async function whyNotOpened(
  destination: Destination,
  slot: string,
  secret: Secret,
  signal: AbortSignal,
): Promise<RepositoryError | undefined> {
  const { slots, unread } = await readKeyFiles(destination, signal);
  if (unread > 0) {
    return new RepositoryError('LIMIT_EXCEEDED', `There are more than ${MOST_SLOTS} key slots`, {
      hint: `Those that "${holdfastThere`keys list`}" shows as unknown open nothing: remove them with "${holdfastThere`keys remove ID`}".`,
    });
  }
  try {
    // Slots with the same secret may come first, left by interrupted attempts. They open nothing, so the next one is tried.
    for await (const opened of openSlots(slots, secret, true)) if (opened.slot === slot) return undefined;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return new RepositoryError('REFUSED', `The new key would not open the repository: ${error.message}`, {
      hint: `Remove what "${holdfastThere`keys list`}" shows as unknown or damaged, then try again.`,
      cause: error,
    });
  }
  return undefined;
}

/** Every slot that the keyring lists: at most 64. */
export function knownSlots({ slots, writeOnly }: Keyring): readonly KnownSlot[] {
  return [...slots, ...(writeOnly?.keys ?? [])];
}

/** Numbers of the write-only keys that were not removed. */
export function writeOnlyInUse({ writeOnly }: Keyring): ReadonlySet<number> {
  return new Set(writeOnly?.keys.map(({ number }) => number));
}

function withSlot(ring: Keyring, known: KnownSlot): Keyring {
  if (known.kind !== 'write-only') return { ...ring, slots: [...ring.slots, known] };
  const number = (ring.writeOnly?.last ?? 0) + 1;
  const keys = [...(ring.writeOnly?.keys ?? []), { ...known, number }];
  // An older program would seal the keyring to none of these keys, and take their objects for damage.
  const minFormat = Math.max(ring.minFormat, WRITE_ONLY_FORMAT);
  return { ...ring, minFormat, writeOnly: { last: number, keys } };
}

function withoutSlot({ slots, writeOnly, ...ring }: Keyring, slot: string): Keyring {
  const others = <Slot extends KnownSlot>(known: readonly Slot[]): Slot[] =>
    known.filter((one) => one.slot !== slot);
  return {
    ...ring,
    slots: others(slots),
    ...(writeOnly === undefined ? {} : { writeOnly: { ...writeOnly, keys: others(writeOnly.keys) } }),
  };
}

/**
 * Removes a key: stores a keyring without it, with a new generation that the key never sees, then deletes its file.
 * Somebody who kept a copy of the slot and of the old keyring can still read what was stored before.
 *
 * @param slot 32 hex digits
 * @throws {RepositoryError} REFUSED when no passphrase or recovery code would be left, or there is no such slot
 */
export async function removeKey(
  repository: Repository,
  slot: string,
  signal: AbortSignal,
): Promise<KeyChange> {
  repository.requireReading();
  await repository.followRing(signal);
  const { keyring, destination } = repository;
  const keys = await listKeys(repository, signal);
  const gone = keys.find((key) => key.slot === slot);
  if (gone === undefined) {
    throw new RepositoryError('REFUSED', `The repository has no key ${slot}`, {
      hint: `List the keys with: ${holdfastThere`keys list`}`,
    });
  }
  if (gone.state !== 'unknown') requireEnoughLeft(await thatOpen(keys, destination, signal), gone);
  if (gone.state === 'unknown') {
    await deleteTwice(destination, `keys/${slot}`, signal);
    return { repository, slot };
  }
  const generations = withNewGeneration(keyring);
  await replaceRing(repository, { ...withoutSlot(keyring, slot), generations }, signal);
  await deleteTwice(destination, `keys/${slot}`, signal);
  return { repository, slot };
}

/**
 * Makes a new key generation: every host that opens the repository from here on seals what it stores under it. Existing
 * objects stay as they are and are read as before.
 *
 * @throws {RepositoryError} REPOSITORY_LOCKED when the keys are changed elsewhere at the same time
 */
export async function rotateKeys(repository: Repository, signal: AbortSignal): Promise<void> {
  repository.requireReading();
  await repository.followRing(signal);
  const { keyring } = repository;
  const generations = withNewGeneration(keyring, MOST_ROTATED);
  await replaceRing(repository, { ...keyring, generations }, signal);
}

function withNewGeneration({ generations }: Keyring, most = MOST_GENERATIONS): Keyring['generations'] {
  if (generations.length >= most) {
    throw new RepositoryError('LIMIT_EXCEEDED', `The repository has ${generations.length} key generations`, {
      hint: `Rewrite what is stored under the old ones with: ${holdfastThere`keys rekey`}`,
    });
  }
  const newest = Math.max(...generations.map(({ g }) => g));
  return [
    ...generations.map((one) => ({ ...one, state: 'old' as const })),
    { g: newest + 1, key: randomBytes(32), state: 'current' },
  ];
}

/** Replaces a key by a new secret; in between both open the repository. */
export async function replaceKey(
  repository: Repository,
  slot: string,
  key: NewKey,
  signal: AbortSignal,
): Promise<KeyChange> {
  const added = await addKey(repository, key, signal);
  const { repository: changed } = await removeKey(added.repository, slot, signal);
  return { repository: changed, slot: added.slot };
}

/** The generations under which new objects are no longer sealed. */
export function oldGenerations({ keyring }: Repository): readonly number[] {
  return keyring.generations.filter(({ state }) => state === 'old').map(({ g }) => g);
}

/** The keys that can be reached, without passphrase slots that opening never tries because others would take too long. */
async function thatOpen(
  keys: readonly KeyInfo[],
  destination: Destination,
  signal: AbortSignal,
): Promise<readonly KeyInfo[]> {
  const { slots } = await readKeyFiles(destination, signal);
  const tried = new Set(planTries(slots, 'passphrase', true).tried.map(({ slot }) => slot));
  return keys.filter(({ kind, slot }) => kind !== 'passphrase' || tried.has(slot));
}

function requireEnoughLeft(keys: readonly KeyInfo[], gone: KeyInfo): void {
  if (gone.kind === 'write-only') return;
  const opens = keys.filter(({ kind }) => kind !== 'write-only');
  const left = opens.filter((key) => key.slot !== gone.slot && key.state === 'sound');
  const forPeople = ({ kind }: KeyInfo): boolean => kind !== 'machine';
  const enough = left.length > 0 && (left.some(forPeople) || !opens.some(forPeople) || !forPeople(gone));
  if (enough) return;
  throw new RepositoryError(
    'REFUSED',
    'This is the last passphrase or recovery code that opens the repository',
    {
      hint: 'Add another one first.',
    },
  );
}

async function readSlotFile(
  repository: Repository,
  slot: string,
  signal: AbortSignal,
): Promise<{ slot: ReturnType<typeof decodeSlot> | undefined; digest: string } | undefined> {
  let bytes: Buffer;
  try {
    bytes = await repository.destination.get(`keys/${slot}`, undefined, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    throw error;
  }
  try {
    const decoded = decodeSlot(bytes, `keys/${slot}`);
    return { slot: decoded.slot === slot ? decoded : undefined, digest: sha256(bytes) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { slot: undefined, digest: '' };
  }
}

import { randomInt } from 'node:crypto';
import { DestinationError, RepositoryError, corrupt } from '../../base/errors.ts';
import type { Destination, ListedObject } from '../../destination/destination.ts';
import type { Keyring } from '../../format/keyring.ts';
import { openRing, openSlots, type OpenSlot, type Secret } from './key-slots.ts';
import { inTurn, mapParallel } from '../objects/parallel.ts';
import { getCopy, listCopied } from '../objects/second-copies.ts';
import { MOST_SLOTS } from './slot-cost.ts';
import { decodeSlot, type SlotFile } from './slot-file.ts';

const MOST_SLOT_BYTES = 8_192;

export interface KeyFiles {
  /** Oldest first. */
  readonly slots: readonly SlotFile[];
  /** Numbers of the rings, newest first. */
  readonly rings: readonly number[];
  /** Why slot files could not be read. */
  readonly damaged: readonly RepositoryError[];
  /** How many slot files were not read because there are more than a repository can have. */
  readonly unread: number;
}

/**
 * The key slot files of a destination and the numbers of its rings; files that an interrupted init left are excluded.
 * Where there are no slots, their second copies.
 */
export async function readKeyFiles(destination: Destination, signal: AbortSignal): Promise<KeyFiles> {
  const keys: string[] = [];
  const rings: number[] = [];
  for await (const page of destination.list('keys/', signal)) {
    for (const { key, size } of page) {
      const ring = ringNumberOf(key);
      if (ring !== undefined) rings.push(ring);
      else if (SLOT_KEY.test(key) && size <= MOST_SLOT_BYTES) keys.push(key);
    }
  }
  const slots: SlotFile[] = [];
  const damaged: RepositoryError[] = [];
  await mapParallel(someOf(keys), destination.properties.maxParallel, async (key) => {
    try {
      // A slot under another name still opens; check reports it.
      slots.push(decodeSlot(await destination.get(key, undefined, signal), key));
    } catch (error) {
      if (error instanceof RepositoryError) damaged.push(error);
      else if (isUnreadableHere(error, destination)) damaged.push(corrupt(key, 'it cannot be read', error));
      else throw error;
    }
  });
  const mayBeUnfinished = rings.length === 0 && slots.length + damaged.length > 0;
  if (mayBeUnfinished && (await unfinishedInit(destination, signal)) !== undefined)
    return { slots: [], rings, damaged: [], unread: 0 };
  const unread = Math.max(0, keys.length - MOST_SLOTS);
  const files = inOrder({ slots, rings, damaged, unread });
  if (keys.length > 0) return files;
  const copies = await withCopies(destination, files, signal);
  // Copies without a ring are left by an interrupted init.
  return copies === undefined || copies.rings.length === 0 ? files : copies;
}

const SLOT_KEY = /^keys\/[0-9a-f]{32}$/;

function ringNumberOf(key: string): number | undefined {
  const number = /^keys\/ring-(\d{1,9})$/.exec(key)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Chosen at random where there are too many, so that planted slots cannot keep the genuine ones out for ever. */
function someOf(keys: readonly string[]): readonly string[] {
  if (keys.length <= MOST_SLOTS) return keys;
  const shuffled = keys.map((key) => ({ key, at: randomInt(2 ** 47) })).sort((a, b) => a.at - b.at);
  return shuffled.slice(0, MOST_SLOTS).map(({ key }) => key);
}

function inOrder({ slots, rings, damaged, unread }: KeyFiles): KeyFiles {
  return {
    slots: [...slots].sort((a, b) => a.createdMs - b.createdMs),
    rings: [...rings].sort((a, b) => b - a),
    damaged,
    unread,
  };
}

/**
 * The key files completed from second copies: slots and rings that are gone, and slots that differ from their copy.
 * Undefined when the copies add nothing.
 */
export async function withCopies(
  destination: Destination,
  { slots, rings, damaged, unread }: KeyFiles,
  signal: AbortSignal,
): Promise<KeyFiles | undefined> {
  const copied = await listCopied(destination, 'keys/', signal);
  const moreRings = copied.map(ringNumberOf).filter((n) => n !== undefined && !rings.includes(n));
  const more: SlotFile[] = [];
  const keys = copied.filter((key) => SLOT_KEY.test(key));
  await mapParallel(someOf(keys), destination.properties.maxParallel, async (key) => {
    const bytes = await getCopy(destination, key, signal);
    const copy = bytes && decodedCopy(bytes, key);
    if (copy !== undefined && !slots.some((slot) => isSame(slot, copy))) more.push(copy);
  });
  if (more.length + moreRings.length === 0) return undefined;
  const others = slots.filter(({ slot }) => !more.some((copy) => copy.slot === slot));
  const numbers = moreRings.filter((n) => n !== undefined);
  return inOrder({ slots: [...others, ...more], rings: [...rings, ...numbers], damaged, unread });
}

function decodedCopy(bytes: Buffer, key: string): SlotFile | undefined {
  try {
    return decodeSlot(bytes, key);
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return undefined;
  }
}

function isSame(a: SlotFile, b: SlotFile): boolean {
  return a.slot === b.slot && a.associated.equals(b.associated) && a.ct.equals(b.ct);
}

export interface OpenedKeyring {
  readonly slot: OpenSlot;
  readonly keyring: Keyring;
  readonly ringNumber: number;
  /** Why a newer ring could not be used. */
  readonly passed: Error | undefined;
}

/** Tries the slots that the secret opens until one is still in the newest ring, then those that second copies add. */
export async function openKeyring(
  destination: Destination,
  files: KeyFiles,
  secret: Secret,
  options: { readonly allowWeakCost?: boolean },
  signal: AbortSignal,
): Promise<OpenedKeyring> {
  try {
    return await openByFiles(destination, files, secret, options, signal);
  } catch (error) {
    if (!isWrongSecret(error) && !isWorthCopy(error, destination)) throw error;
    const more = await withCopies(destination, files, signal);
    if (more === undefined) throw error;
    return await openByFiles(destination, more, secret, options, signal);
  }
}

async function openByFiles(
  destination: Destination,
  files: KeyFiles,
  secret: Secret,
  options: { readonly allowWeakCost?: boolean },
  signal: AbortSignal,
): Promise<OpenedKeyring> {
  let failure: unknown;
  // Fetched while the passphrase is stretched, which takes longer than a request.
  const early = fetchEarly(destination, ringKey(files.rings[0]), signal);
  try {
    for await (const slot of openSlots(files.slots, secret, options.allowWeakCost ?? false)) {
      try {
        return { slot, ...(await newestRing(destination, files.rings, { slot, early }, signal)) };
      } catch (error) {
        // The slot was removed or belongs to another repository; the secret may open another one.
        if (!isWrongSecret(error) && !isUnusable(error)) throw error;
        failure ??= error;
      }
    }
  } catch (error) {
    if (!isWrongSecret(error)) throw error;
    if (files.slots.length === 0 && files.damaged.length > 0) throw noneReadable(files.damaged);
    throw failure ?? withDamagedSlots(error, files.damaged);
  }
  throw failure;
}

function isWrongSecret(error: unknown): error is RepositoryError {
  return error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
}

function withDamagedSlots(error: RepositoryError, damaged: readonly RepositoryError[]): RepositoryError {
  if (damaged.length === 0) return error;
  const objects = damaged.map(({ details }) => details['object']).join(', ');
  return new RepositoryError('WRONG_PASSPHRASE', `${error.message}; damaged, so not tried: ${objects}`, {
    hint: error.hint,
    cause: damaged[0],
  });
}

/** Whether the secret is right is not known then. */
function noneReadable(damaged: readonly RepositoryError[]): RepositoryError {
  const objects = damaged.map(({ details }) => details['object']).join(', ');
  return new RepositoryError('CORRUPT_DATA', `None of the repository’s key slots can be read: ${objects}`, {
    hint: 'The passphrase may be right, and the backups intact. Check the storage of the destination and try again. If this continues, restore these files from a copy of the destination.',
    details: { object: `${damaged[0]?.details['object']}` },
    cause: damaged[0],
  });
}

/** One object that the storage has and does not give: a bad sector, or a reply that is not what the storage says it has. */
export function isUnreadableHere(error: unknown, { properties }: Destination): error is DestinationError {
  if (!(error instanceof DestinationError)) return false;
  return error.kind === 'corrupt-reply' || (error.kind === 'unreachable' && !properties.remote);
}

/** Whether damage to one object may be the cause of the error, so that its second copy is worth a try. */
export function isWorthCopy(error: unknown, destination: Destination): boolean {
  if (isUnusable(error) || isUnreadableHere(error, destination)) return true;
  return (
    error instanceof RepositoryError && (error.code === 'NEWER_FORMAT' || error.code === 'LIMIT_EXCEEDED')
  );
}

/**
 * Whether an object is unusable: damaged, or not found under the key that its listed number gives, since only a
 * stranger writes numbers with leading zeros.
 */
export function isUnusable(error: unknown): error is DestinationError | RepositoryError {
  if (error instanceof DestinationError) return error.kind === 'not-found';
  return error instanceof RepositoryError && error.code === 'CORRUPT_DATA';
}

function ringKey(number: number | undefined): string | undefined {
  return number === undefined ? undefined : `keys/ring-${number}`;
}

/** An object that will be needed soon. Undefined when that fails; whoever needs it then requests it again. */
export async function fetchEarly(
  destination: Destination,
  key: string | undefined,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (key === undefined) return undefined;
  try {
    return await destination.get(key, undefined, signal);
  } catch {
    return undefined;
  }
}

async function newestRing(
  destination: Destination,
  rings: readonly number[],
  { slot, early }: { readonly slot: OpenSlot; readonly early: Promise<Buffer | undefined> },
  signal: AbortSignal,
) {
  const look = async (n: number): Promise<{ readonly n: number; readonly keyring: Keyring } | Error> => {
    try {
      const fetched = n === rings[0] ? await early : undefined;
      const bytes = fetched ?? (await destination.get(`keys/ring-${n}`, undefined, signal));
      return { n, keyring: openRing(bytes, n, slot) };
    } catch (error) {
      if (!isWorthCopy(error, destination)) throw error;
      const keyring = await copiedRing(destination, n, slot, signal);
      if (keyring !== undefined) return { n, keyring };
      if (!isUnusable(error)) throw error;
      return error;
    }
  };
  let passed: Error | undefined;
  for await (const ring of inTurn(rings, destination.properties.maxParallel, look)) {
    if (!(ring instanceof Error)) return { keyring: ring.keyring, ringNumber: ring.n, passed };
    passed ??= ring;
  }
  throw passed ?? corrupt('keys/', 'the repository has key slots but no keyring');
}

/** Numbers of the rings, newest first, including those of which only a second copy is left. */
export async function ringNumbers(destination: Destination, signal: AbortSignal): Promise<readonly number[]> {
  const keys = await listCopied(destination, 'keys/ring-', signal);
  for await (const page of destination.list('keys/ring-', signal)) keys.push(...page.map(({ key }) => key));
  const numbers = new Set(keys.map(ringNumberOf).filter((n) => n !== undefined));
  return [...numbers].sort((a, b) => b - a);
}

/**
 * Ring `n` from the object or its second copy; undefined when neither can be used. @throws {RepositoryError}
 * WRONG_PASSPHRASE
 */
export async function ringOrCopy(
  destination: Destination,
  n: number,
  slot: OpenSlot,
  signal: AbortSignal,
): Promise<Keyring | undefined> {
  try {
    return openRing(await destination.get(`keys/ring-${n}`, undefined, signal), n, slot);
  } catch (error) {
    if (!isWorthCopy(error, destination)) throw error;
    const keyring = await copiedRing(destination, n, slot, signal);
    if (keyring === undefined && !isUnusable(error)) throw error;
    return keyring;
  }
}

/** Ring `n` from its second copy; undefined when that cannot be used either. */
async function copiedRing(
  destination: Destination,
  n: number,
  slot: OpenSlot,
  signal: AbortSignal,
): Promise<Keyring | undefined> {
  const bytes = await getCopy(destination, `keys/ring-${n}`, signal);
  if (bytes === undefined) return undefined;
  try {
    return openRing(bytes, n, slot);
  } catch (error) {
    if (isWrongSecret(error) || !isWorthCopy(error, destination)) throw error;
    return undefined;
  }
}

/** What an interrupted init leaves: a configuration and key slots, without the ring that comes last. */
const UNFINISHED_INIT = /^(?:copies\/)?(?:config\/[1-9]\d{0,5}|keys\/[0-9a-f]{32})$/;

/** Names of the objects that a trial of the destination leaves where nothing can be deleted. */
const TRIED_OUT = /^probe-[0-9a-f]{16}-[a-z]$/;

/** The objects that interrupted inits left, none in an empty place; undefined when there is anything else. */
async function unfinishedInit(
  destination: Destination,
  signal: AbortSignal,
): Promise<ListedObject[] | undefined> {
  const { leftovers, others } = await whatLiesThere(destination, signal);
  return others.length === 0 ? leftovers : undefined;
}

/** The objects that interrupted inits left, and the keys of some other objects, if there are any. */
export async function whatLiesThere(
  destination: Destination,
  signal: AbortSignal,
): Promise<{ readonly leftovers: ListedObject[]; readonly others: readonly string[] }> {
  const leftovers: ListedObject[] = [];
  try {
    for await (const page of destination.list('', signal)) {
      const objects = page.filter(({ key }) => !TRIED_OUT.test(key));
      const others = objects.map(({ key }) => key).filter((key) => !UNFINISHED_INIT.test(key));
      if (others.length > 0) return { leftovers, others };
      leftovers.push(...objects);
    }
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
  }
  return { leftovers, others: [] };
}

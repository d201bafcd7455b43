/**
 * Stores the objects that make a repository. Several programs may do so at the same place, and any of them may die or
 * stall at any step. The program that creates the first ring has made the repository. Until then nobody deletes or
 * replaces what another has stored, so that the winner has all of its objects. They do not collide: slots have random
 * names, and a configuration takes the next free number.
 */
import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { Destination, ListedObject } from '../destination/destination.ts';
import { whatLiesThere } from './slots/key-files.ts';
import { deleteTwice, putCopy } from './objects/second-copies.ts';

/** Creating this ring is what makes the repository. */
const FIRST_RING = 'keys/ring-1';
/**
 * Used where creating a key is not exclusive: what another program stored longer ago than this, by the storage's clock,
 * counts as abandoned.
 */
const BROKEN_OFF_MS = 3_600_000;
/** How many times another program may take the number that was free a moment ago. */
const NUMBER_TRIES = 10;

export interface NewObjects {
  /** Slot files by their keys. */
  readonly slots: ReadonlyMap<string, Buffer>;
  readonly ring: Buffer;
  /** Makes the configuration object for number `n`. */
  readonly configAt: (n: number) => Buffer;
}

/**
 * The objects that interrupted inits left, or that other programs have stored so far.
 * @throws {RepositoryError} REPOSITORY_EXISTS when the place holds anything else
 */
export async function requireFree(
  destination: Destination,
  signal: AbortSignal,
): Promise<readonly ListedObject[]> {
  const { leftovers, others } = await whatLiesThere(destination, signal);
  if (others.length === 0) return leftovers;
  throw notEmpty(destination, others);
}

/** Top-level folders that only a repository has, so that anything else is reported as foreign. */
const OF_REPOSITORY = /^(?:config|copies|heads|index|keys|leases|packs|reserve|snapshots|trash)\//;

function notEmpty({ properties: { url } }: Destination, others: readonly string[]): RepositoryError {
  const strange = others.filter((key) => !OF_REPOSITORY.test(key)).sort();
  if (strange.length === 0)
    return new RepositoryError('REPOSITORY_EXISTS', `${url} already holds a repository, or parts of one`, {
      hint: 'Open that one with its passphrase, or choose an empty place.',
    });
  const [first = '', second] = strange;
  const names =
    strange.length > 2 ? `${first} and others` : second === undefined ? first : `${first} and ${second}`;
  return new RepositoryError(
    'REPOSITORY_EXISTS',
    `No repository can be created at ${url}, because there are other files: ${names}`,
    {
      hint: 'Move them away, or choose an empty place, such as a new folder below this one.',
      details: { found: first },
    },
  );
}

/**
 * Stores the objects so that afterwards either there is a repository that can be opened, or there is none.
 * @returns the number of the configuration
 * @throws {RepositoryError} REPOSITORY_EXISTS, REPOSITORY_LOCKED when another program makes one at the same time
 */
export async function storeNew(
  destination: Destination,
  objects: NewObjects,
  signal: AbortSignal,
): Promise<number> {
  const own = new Map<string, Buffer>();
  try {
    return await storeAll(destination, objects, own, signal);
  } catch (error) {
    // After any other error it is unknown what was stored: it may be a repository. If not, the next init clears it up.
    if (error instanceof RepositoryError) await withdraw(destination, [...own.keys()], signal);
    throw error;
  }
}

async function storeAll(
  destination: Destination,
  { slots, ring, configAt }: NewObjects,
  own: Map<string, Buffer>,
  signal: AbortSignal,
): Promise<number> {
  let nowMs = 0;
  for (const [key, file] of slots) {
    nowMs = (await destination.put(key, file, signal)).modifiedMs;
    own.set(key, file);
    await putCopy(destination, key, file, signal);
  }
  const { n, config, others } = await putNextConfig(destination, { slots, configAt, nowMs }, signal);
  own.set(`config/${n}`, config);
  await putCopy(destination, `config/${n}`, config, signal);
  await putRing(destination, ring, signal);
  await requireStored(destination, ring, own, signal);
  await putCopy(destination, FIRST_RING, ring, signal);
  // The others' objects can no longer become a repository. Those that they stored since are left for them to remove.
  if (destination.properties.canDelete) await deleteAll(destination, others, signal);
  return n;
}

async function putNextConfig(
  destination: Destination,
  { slots, configAt, nowMs }: Pick<NewObjects, 'slots' | 'configAt'> & { readonly nowMs: number },
  signal: AbortSignal,
) {
  for (let tries = 0; tries < NUMBER_TRIES; tries += 1) {
    const listed = await requireFree(destination, signal);
    const others = listed.filter(({ key }) => !slots.has(key.replace(/^copies\//, '')));
    if (!destination.properties.conditionalCreate) requireAlone(destination, others, nowMs);
    const n = 1 + Math.max(0, ...others.map(({ key }) => Number(/config\/(\d+)$/.exec(key)?.[1] ?? 0)));
    const config = configAt(n);
    try {
      await destination.put(`config/${n}`, config, signal);
      return { n, config, others: others.map(({ key }) => key) };
    } catch (error) {
      if (!isKind(error, 'exists')) throw error;
    }
  }
  throw beingMade(destination);
}

/**
 * Where creating a key is not exclusive, two programs could both believe that they created the ring. All store their
 * slots before this check, so that of several at work all but one see another.
 */
function requireAlone(destination: Destination, others: readonly ListedObject[], nowMs: number): void {
  if (others.some(({ modifiedMs }) => modifiedMs > nowMs - BROKEN_OFF_MS)) throw beingMade(destination);
}

function beingMade({ properties: { url } }: Destination): RepositoryError {
  return new RepositoryError(
    'REPOSITORY_LOCKED',
    `Another program is creating a repository at ${url}, or was interrupted while doing so less than an hour ago`,
    {
      hint: 'Try again in an hour. To continue now, make sure that no other program is working there, and remove keys, config and copies from it.',
      retry: 'later',
    },
  );
}

async function putRing(destination: Destination, ring: Buffer, signal: AbortSignal): Promise<void> {
  try {
    await destination.put(FIRST_RING, ring, signal);
  } catch (error) {
    if (!isKind(error, 'exists')) throw error;
    throw new RepositoryError(
      'REPOSITORY_EXISTS',
      `Another program created a repository at ${destination.properties.url} at the same time`,
      { hint: 'Open that one with its passphrase, or choose another place.', retry: 'later', cause: error },
    );
  }
}

/**
 * Makes sure that the repository can be opened, whatever another program or the storage has done meanwhile, before init
 * reports success.
 */
async function requireStored(
  destination: Destination,
  ring: Buffer,
  own: Map<string, Buffer>,
  signal: AbortSignal,
): Promise<void> {
  // If this read fails, the ring may still be stored and be this program's: such an error leaves everything in place.
  const holdsRing = ring.equals(await destination.get(FIRST_RING, undefined, signal));
  let whole = holdsRing;
  for (const [key, bytes] of own) whole &&= await holds(destination, key, bytes, signal);
  if (whole) return;
  if (holdsRing) await withdraw(destination, [FIRST_RING], signal);
  throw new RepositoryError(
    'REPOSITORY_LOCKED',
    `Another program changed the new repository at ${destination.properties.url} while it was being created`,
    { hint: 'Make sure that no other program creates one there, then try again.', retry: 'later' },
  );
}

async function holds(
  destination: Destination,
  key: string,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return bytes.equals(await destination.get(key, undefined, signal));
  } catch (error) {
    if (!isKind(error, 'not-found')) throw error;
    return false;
  }
}

/**
 * Removes what this process has created, and nothing else. Where creating a key is not exclusive, a configuration may
 * be another program's, so it stays.
 */
async function withdraw(
  destination: Destination,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { canDelete, conditionalCreate } = destination.properties;
  if (!canDelete) return;
  const mine = keys.filter((key) => conditionalCreate || !key.startsWith('config/'));
  for (const key of mine) await orLeave(async () => await deleteTwice(destination, key, signal));
}

async function deleteAll(
  destination: Destination,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const key of keys) await orLeave(async () => await destination.delete(key, signal));
}

/** Ignores failures to delete: leftovers open nothing, and readers pass over them. */
async function orLeave(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
  }
}

function isKind(error: unknown, kind: DestinationError['kind']): boolean {
  return error instanceof DestinationError && error.kind === kind;
}

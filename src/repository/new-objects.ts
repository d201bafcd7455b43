/**
 * Stores what makes a repository. Several programs may make one at the same place, and any of them may die or stand still
 * at any step. Who creates the first ring has made it; until then nobody deletes or replaces what another has stored, so
 * that whoever that turns out to be has everything. Slots have names of their own, and a configuration takes the next
 * number.
 */
import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { Destination, ListedObject } from '../destination/destination.ts';
import { whatLiesThere } from './slots/key-files.ts';
import { deleteTwice, putCopy } from './objects/second-copies.ts';

/** The ring that makes a repository of what lies there. */
const FIRST_RING = 'keys/ring-1';
/** Where several may create one object: what another stored longer ago, by the storage's clock, was broken off. */
const BROKEN_OFF_MS = 3_600_000;
/** How often others may take the number that was free a moment ago. */
const NUMBER_TRIES = 10;

export interface NewObjects {
  /** By their keys. */
  readonly slots: ReadonlyMap<string, Buffer>;
  readonly ring: Buffer;
  /** The configuration, as the object of that number. */
  readonly configAt: (n: number) => Buffer;
}

/**
 * What interrupted inits left, or others at work have stored so far.
 * @throws {RepositoryError} REPOSITORY_EXISTS when there is anything else
 */
export async function requireFree(
  destination: Destination,
  signal: AbortSignal,
): Promise<readonly ListedObject[]> {
  const { leftovers, others } = await whatLiesThere(destination, signal);
  if (others.length === 0) return leftovers;
  throw notEmpty(destination, others);
}

/** What a repository stores, but for what an init that was broken off leaves. */
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
    `No repository can be made at ${url}, as something else lies there: ${names}`,
    {
      hint: 'Move it away, or choose an empty place, such as a new folder below this one.',
      details: { found: first },
    },
  );
}

/**
 * Stores them so that the repository is there and can be opened, or is not there.
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
    // After any other failure nobody knows what was stored: it may be a repository, and otherwise the next init clears up.
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
  // They can never be a repository now. What others have stored since is theirs to take away.
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
 * Where two may create one object both could believe to have created the ring. All store their slots before they look
 * here, so that of several at work all but one see another.
 */
function requireAlone(destination: Destination, others: readonly ListedObject[], nowMs: number): void {
  if (others.some(({ modifiedMs }) => modifiedMs > nowMs - BROKEN_OFF_MS)) throw beingMade(destination);
}

function beingMade({ properties: { url } }: Destination): RepositoryError {
  return new RepositoryError(
    'REPOSITORY_LOCKED',
    `A repository is being made at ${url} by another program, or by one that was broken off less than an hour ago`,
    {
      hint: 'Try again in an hour. To go on at once, make sure that nothing else is at work there and remove keys, config and copies from it.',
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
      `Another program has made a repository at ${destination.properties.url} at the same time`,
      { hint: 'Open that one with its passphrase, or choose another place.', retry: 'later', cause: error },
    );
  }
}

/** Nobody is told of a repository that cannot be opened, whatever another program or the storage has done meanwhile. */
async function requireStored(
  destination: Destination,
  ring: Buffer,
  own: Map<string, Buffer>,
  signal: AbortSignal,
): Promise<void> {
  // One that is not found now may be there all the same, as this program's: that is a failure after which all stays.
  const holdsRing = ring.equals(await destination.get(FIRST_RING, undefined, signal));
  let whole = holdsRing;
  for (const [key, bytes] of own) whole &&= await holds(destination, key, bytes, signal);
  if (whole) return;
  if (holdsRing) await withdraw(destination, [FIRST_RING], signal);
  throw new RepositoryError(
    'REPOSITORY_LOCKED',
    `What makes the repository at ${destination.properties.url} was changed while it was stored`,
    { hint: 'Let no other program make one there, then try again.', retry: 'later' },
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

/** Takes away what this process has created, and only that: where two may create one object, not what others name alike. */
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

/** What stays opens nothing, and is passed over. */
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

/** What an S3 store can do, found out by trying, and kept in the store itself so that it is tried once. */
import { randomBytes } from 'node:crypto';
import { DestinationError, isAbort } from '../../base/errors.ts';
import type { S3Store } from './s3-client.ts';
import { isBucketMissing, senseless } from './s3-failure.ts';
import { headObject } from './s3-look.ts';
import { deleteObject, getObject, sendObject } from './s3-objects.ts';

export interface S3Abilities {
  /**
   * What becomes of a put that is to create: exactly one of several succeeds; those succeed that come at the same
   * moment; it replaces what is there; it is not understood.
   */
  readonly create: 'one' | 'some' | 'all' | 'none';
  /** A checksum is kept beside each object. */
  readonly checksum: boolean;
}

/** None is a key of a destination, so lists leave them out. */
const RECORD = 'HOLDFAST-STORE';
const TRIAL = 'HOLDFAST-TRIAL';

/** Version 1 did not say of which store it holds. */
const RECORD_VERSION = 2;
/** A store that gives away more than one win does so in the first rounds. */
const ROUNDS = 3;
/** With those that say nothing, since the answer of the winner was lost. */
const MOST_ROUNDS = 8;
const RIVALS = 8;

/** Of a store about which nothing is known: what is safe everywhere. */
export const CAUTIOUS: S3Abilities = { create: 'all', checksum: false };

/** What was found out before; undefined when nothing was. @throws {DestinationError} when the bucket is not there */
export async function readAbilities(store: S3Store, signal: AbortSignal): Promise<S3Abilities | undefined> {
  let text;
  try {
    text = (await getObject(store, RECORD, undefined, signal)).toString();
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    // Of the bucket, which everything else would find missing too.
    if (isBucketMissing(error)) throw error;
    return undefined;
  }
  return parseRecord(text, store.where);
}

function parseRecord(text: string, here: string): S3Abilities | undefined {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    // Anybody may have written it: it is found out anew.
    return undefined;
  }
  if (typeof found !== 'object' || found === null) return undefined;
  const { version, where, create, checksum } = found as Readonly<Record<string, unknown>>;
  // Objects may have been copied here with the record of another store.
  if (version !== RECORD_VERSION || where !== here || typeof checksum !== 'boolean') return undefined;
  if (create !== 'one' && create !== 'some' && create !== 'all' && create !== 'none') return undefined;
  return { create, checksum };
}

/** Tries it out, and writes it down where that is allowed. */
export async function findAbilities(store: S3Store, signal: AbortSignal): Promise<S3Abilities> {
  const tried = new Set<string>();
  const trial = (): string => {
    const key = `${TRIAL}-${randomBytes(8).toString('hex')}`;
    tried.add(key);
    return key;
  };
  try {
    const understood = await creates(store, trial(), Buffer.from('a'), signal);
    const create = understood ? await howManyWin(store, trial, signal) : 'none';
    const abilities: S3Abilities = {
      create,
      checksum: await keepsChecksum(store, trial(), create !== 'none', signal),
    };
    await writeRecord(store, abilities, signal);
    return abilities;
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found' || isBucketMissing(error))
      throw error;
    throw senseless(
      'try out',
      store.url,
      'a new object',
      'the store has taken it and does not have it',
      error,
    );
  } finally {
    // Whoever may not delete leaves them there: a few bytes, which no list shows.
    await Promise.allSettled([...tried].map(async (key) => await deleteObject(store, key, signal)));
  }
}

/** False when the store does not understand that a put is to create. */
async function creates(store: S3Store, key: string, body: Buffer, signal: AbortSignal): Promise<boolean> {
  try {
    await sendObject(store, key, body, { ifNoneMatch: true, checksum: false }, signal);
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    // The name is of this moment: an earlier try, whose answer was lost, has taken it.
    if (error.kind === 'exists') return true;
    if (error.kind === 'unsupported') return false;
    throw error;
  }
}

async function howManyWin(
  store: S3Store,
  trial: () => string,
  signal: AbortSignal,
): Promise<'one' | 'some' | 'all'> {
  let several = false;
  for (let round = 0, told = 0; told < ROUNDS; round += 1) {
    const key = trial();
    const bodies = Array.from({ length: RIVALS }, (_, rival) => Buffer.from(`${rival} ${key}`));
    const wins = await Promise.all(bodies.map(async (body) => await succeeds(store, key, body, signal)));
    const winners = bodies.filter((_, rival) => wins[rival] === true);
    // One that comes later is no race at all; of two one may come first, where what was taken was not kept.
    if (
      (await succeeds(store, key, Buffer.from('late'), signal)) &&
      (await succeeds(store, key, Buffer.from('later'), signal))
    )
      return 'all';
    if (winners.length === 0 && round < MOST_ROUNDS) continue;
    told += 1;
    const stored = await getObject(store, key, undefined, signal);
    if (winners.length !== 1 || winners[0]?.equals(stored) !== true) several = true;
  }
  return several ? 'some' : 'one';
}

async function succeeds(store: S3Store, key: string, body: Buffer, signal: AbortSignal): Promise<boolean> {
  try {
    await sendObject(store, key, body, { ifNoneMatch: true, checksum: false }, signal);
    return true;
  } catch (error) {
    if (error instanceof DestinationError && (error.kind === 'exists' || error.details['status'] === 409))
      return false;
    throw error;
  }
}

async function keepsChecksum(
  store: S3Store,
  key: string,
  ifNoneMatch: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await sendObject(store, key, Buffer.from('checksum'), { ifNoneMatch, checksum: true }, signal).catch(
      (error: unknown) => {
        if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
      },
    );
    const { sha256 } = await headObject(store, key, signal);
    return sha256 !== undefined;
  } catch (error) {
    if (isAbort(error) || !(error instanceof DestinationError)) throw error;
    // Written down for good: only what the store says of itself counts.
    if (error.kind !== 'unsupported' && error.kind !== 'denied') throw error;
    return false;
  }
}

async function writeRecord(store: S3Store, abilities: S3Abilities, signal: AbortSignal): Promise<void> {
  const record = { version: RECORD_VERSION, where: store.where, ...abilities };
  const body = Buffer.from(`${JSON.stringify(record)}\n`);
  const manner = { ifNoneMatch: abilities.create !== 'none', checksum: false };
  try {
    await sendObject(store, RECORD, body, manner, signal);
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
    // An unreadable one is in its place; who may not replace it finds out anew each time.
    await sendObject(store, RECORD, body, { ...manner, ifNoneMatch: false }, signal).catch(
      (refused: unknown) => {
        if (!(refused instanceof DestinationError) || refused.kind !== 'denied') throw refused;
      },
    );
  }
}

/**
 * Whether these credentials may delete: asked for with an object that is not there, on a condition that holds for none,
 * so that nothing goes and no mark is left.
 */
export async function mayDelete(store: S3Store, signal: AbortSignal): Promise<boolean> {
  const key = `${TRIAL}-delete`;
  try {
    await deleteObject(store, key, signal, '"00000000000000000000000000000000"');
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    if (error.kind === 'denied') return false;
    // The condition is not understood, or did not hold. Nobody is kept from deleting by a lack of space.
    if (error.kind === 'exists' || error.kind === 'full') return true;
    if (error.kind !== 'unsupported') throw error;
  }
  try {
    await deleteObject(store, key, signal);
    return true;
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'denied') return false;
    throw error;
  }
}

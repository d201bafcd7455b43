/**
 * Finds out by trying what an S3 store can do. The result is recorded in the store itself, so that it is tried only
 * once.
 */
import { randomBytes } from 'node:crypto';
import { DestinationError, isAbort } from '../../base/errors.ts';
import type { S3Store } from './s3-client.ts';
import { isBucketMissing, senseless } from './s3-failure.ts';
import { headObject } from './s3-look.ts';
import { deleteObject, getObject, sendObject } from './s3-objects.ts';

export interface S3Abilities {
  /**
   * What the store does with a put that is to create only. `one`: exactly one of several writers succeeds. `some`:
   * several succeed when they come at the same moment. `all`: the put replaces an existing object. `none`: the store
   * refuses the condition.
   */
  readonly create: 'one' | 'some' | 'all' | 'none';
  /** The store keeps a checksum with each object. */
  readonly checksum: boolean;
}

/** None of these names is a valid key, so lists leave them out. */
const RECORD = 'HOLDFAST-STORE';
const TRIAL = 'HOLDFAST-TRIAL';

/** Version 1 did not record which store it applies to. */
const RECORD_VERSION = 2;
/** Rounds that must show a winner. A store that lets several writers win does so in the first rounds. */
const ROUNDS = 3;
/** Most rounds in all, including those without a winner because its answer was lost. */
const MOST_ROUNDS = 8;
const RIVALS = 8;

/** Assumed while nothing is known about the store; safe everywhere. */
export const CAUTIOUS: S3Abilities = { create: 'all', checksum: false };

/**
 * The recorded abilities; undefined when there is no usable record. @throws {DestinationError} when the bucket does not
 * exist
 */
export async function readAbilities(store: S3Store, signal: AbortSignal): Promise<S3Abilities | undefined> {
  let text;
  try {
    text = (await getObject(store, RECORD, undefined, signal)).toString();
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    // The bucket itself is missing, so that everything else would fail too.
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
    // Anybody may have written this record, so its content is not trusted: the abilities are found out anew.
    return undefined;
  }
  if (typeof found !== 'object' || found === null) return undefined;
  const { version, where, create, checksum } = found as Readonly<Record<string, unknown>>;
  // The record may have been copied here together with the objects of another store.
  if (version !== RECORD_VERSION || where !== here || typeof checksum !== 'boolean') return undefined;
  if (create !== 'one' && create !== 'some' && create !== 'all' && create !== 'none') return undefined;
  return { create, checksum };
}

/** Tries out what the store can do, and records the result where that is allowed. */
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
      'the store accepted it, but does not have it',
      error,
    );
  } finally {
    // Without the right to delete they stay: a few bytes that no list shows.
    await Promise.allSettled([...tried].map(async (key) => await deleteObject(store, key, signal)));
  }
}

/** False when the store does not understand a put that is to create only. */
async function creates(store: S3Store, key: string, body: Buffer, signal: AbortSignal): Promise<boolean> {
  try {
    await sendObject(store, key, body, { ifNoneMatch: true, checksum: false }, signal);
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    // The name is random, so only an earlier try whose answer was lost can have taken it.
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
    // A later put is no race and must be refused. If nothing of the race was kept, the first late put may rightly
    // succeed, so only two successes show that the store replaces objects.
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
    // The result is recorded for good, so only a refusal by the store itself decides.
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
    // There is an unreadable record. With credentials that may not replace it, the abilities are found out anew each
    // time.
    await sendObject(store, RECORD, body, { ...manner, ifNoneMatch: false }, signal).catch(
      (refused: unknown) => {
        if (!(refused instanceof DestinationError) || refused.kind !== 'denied') throw refused;
      },
    );
  }
}

/**
 * Whether these credentials may delete. It is found out by deleting an object that does not exist, under a condition
 * that never holds, so that nothing is removed and no delete marker is left.
 */
export async function mayDelete(store: S3Store, signal: AbortSignal): Promise<boolean> {
  const key = `${TRIAL}-delete`;
  try {
    await deleteObject(store, key, signal, '"00000000000000000000000000000000"');
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    if (error.kind === 'denied') return false;
    // Either the condition is not understood or it did not hold, so deleting is allowed. Lack of space does not prevent
    // deleting either.
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

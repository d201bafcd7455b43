/**
 * A bucket of an S3 store as a destination: the key, below a prefix, is the name of the object.
 *
 * A put is signed together with the hash of its bytes, which the store compares. Then the object's size, time and,
 * where the store keeps one, checksum are asked for; the put succeeds only when they fit. Stores differ in whether a
 * put can be made to create only, which is tried out once for each prefix (s3-probe.ts). Where it cannot, the key is
 * looked at beforehand: that keeps a single writer from replacing anything, but not several that come at the same
 * moment. Each object is put in one request. Objects of a repository have 128 MiB at most, and a request that succeeds
 * as a whole or not at all is better than parts that would have to be cleaned up.
 */
import { DestinationError } from '../../base/errors.ts';
import type { S3Access } from '../access.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat } from '../destination.ts';
import { TAKEN, failure } from '../http-failure.ts';
import { checkKey, checkPrefix, isNamedByBytes } from '../key.ts';
import type { S3Place } from '../location.ts';
import { untilAborted } from '../stall.ts';
import { S3_PARALLEL, s3Store, type S3Options, type S3Store } from './s3-client.ts';
import { senseless } from './s3-failure.ts';
import { listObjects } from './s3-list.ts';
import { headObject } from './s3-look.ts';
import { deleteObject, getObject, retainObject, sendObject } from './s3-objects.ts';
import { CAUTIOUS, findAbilities, mayDelete, readAbilities, type S3Abilities } from './s3-probe.ts';

export type { S3Options } from './s3-client.ts';

const DAY_MS = 86_400_000;

const live = new AbortController().signal;

/**
 * Opens the bucket with two requests: one for the recorded abilities of the store, one to see whether these credentials
 * may delete. Unknown abilities are tried out at once with `create`, otherwise before the first put. Rejects with
 * `not-found` when there is no such bucket, and with `denied` when the credentials are not sufficient.
 */
export async function openS3Destination(
  place: S3Place,
  access: S3Access = {},
  options: S3Options = {},
  signal: AbortSignal = live,
): Promise<Destination> {
  const store = await s3Store(place, access, options);
  const { patient } = store;
  try {
    const asking = mayDelete(patient, signal);
    // When both requests fail, the failure that concerns the bucket itself says more.
    asking.catch(() => {});
    const known = await readAbilities(patient, signal);
    const canDelete = await asking;
    const abilities = known ?? (options.create === true ? await findAbilities(patient, signal) : undefined);
    return s3Destination(store, abilities, canDelete);
  } catch (error) {
    store.client.destroy();
    throw openFailure(error, store);
  }
}

/** Rewords a failure of opening, which would otherwise mention an object that the user does not know. */
function openFailure(error: unknown, { url }: S3Store): unknown {
  if (!(error instanceof DestinationError)) return error;
  const { kind, what, hint, retry, details } = error;
  if (what === undefined) return error;
  return new DestinationError(kind, `Cannot open ${url}: ${what}`, {
    op: 'open',
    what,
    hint,
    retry,
    details,
    cause: error.cause,
  });
}

function s3Destination(store: S3Store, known: S3Abilities | undefined, canDelete: boolean): Destination {
  let abilities = known;
  let finding: Promise<S3Abilities> | undefined;

  /** Concurrent callers share one trial. */
  async function abilitiesForPut(signal: AbortSignal): Promise<S3Abilities> {
    if (abilities !== undefined) return abilities;
    finding ??= findOut();
    return await untilAborted(finding, signal);
  }

  async function findOut(): Promise<S3Abilities> {
    try {
      abilities = await findAbilities(store.patient, live);
      return abilities;
    } finally {
      finding = undefined;
    }
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    signal.throwIfAborted();
    checkKey(key);
    const { create, checksum } = await abilitiesForPut(signal);
    if (create === 'all' || create === 'none') await expectAbsent(store, key, signal);
    const manner = { ifNoneMatch: create !== 'none', checksum, retainUntilMs: retainUntil(store) };
    const sha256 = await sendObject(store, key, body, manner, signal);
    return await confirm(
      store.patient,
      key,
      { body, sha256, createdByOne: create === 'one' },
      canDelete,
      signal,
    );
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    signal.throwIfAborted();
    checkPrefix(prefix);
    for await (const page of listObjects(store, prefix, signal)) {
      yield page;
      signal.throwIfAborted();
    }
  }

  return {
    get properties() {
      return {
        url: store.url,
        conditionalCreate: (abilities ?? CAUTIOUS).create === 'one',
        canDelete,
        maxParallel: S3_PARALLEL,
        remote: true,
        flatLists: true,
        ...store.seen,
        ...(store.access.objectLock === undefined ? {} : { retainDays: store.access.objectLock.days }),
      };
    },
    put,
    async get(key: string, range: ByteRange | undefined, signal: AbortSignal) {
      signal.throwIfAborted();
      checkKey(key);
      return await getObject(store, key, range, signal);
    },
    async stat(key, signal) {
      signal.throwIfAborted();
      checkKey(key);
      const { size, modifiedMs } = await headObject(store, key, signal);
      return { size, modifiedMs };
    },
    list,
    async delete(key, signal) {
      signal.throwIfAborted();
      checkKey(key);
      await deleteObject(store, key, signal);
    },
    ...(store.access.objectLock === undefined
      ? {}
      : {
          async retain(key: string, signal: AbortSignal) {
            signal.throwIfAborted();
            checkKey(key);
            await retainObject(store, key, retainUntil(store) ?? 0, signal);
          },
        }),
    close: async () => store.client.destroy(),
  };
}

async function expectAbsent(store: S3Store, key: string, signal: AbortSignal): Promise<void> {
  try {
    await headObject(store, key, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return;
    throw error;
  }
  throw failure(TAKEN, { op: 'store', url: store.url, key });
}

interface Sent {
  readonly body: Uint8Array;
  /** Base64. */
  readonly sha256: string;
  /** The store lets exactly one of several writers create an object. */
  readonly createdByOne: boolean;
}

/**
 * Compares what the store says about a just stored object with what was sent. A damaged object is deleted and can be
 * put again. Where several writers may have created the key, other bytes may be those of a writer who was told that
 * they are stored: they stay, and the put fails with `exists`.
 */
async function confirm(
  store: S3Store,
  key: string,
  { body, sha256: ownSha256, createdByOne }: Sent,
  canDelete: boolean,
  signal: AbortSignal,
): Promise<ObjectStat> {
  const { size, modifiedMs, sha256 } = await headObject(store, key, signal).catch((error: unknown) => {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    throw senseless('store', store.url, key, 'the store accepted it, but does not have it', error);
  });
  if (size === body.byteLength && (sha256 === undefined || sha256 === ownSha256)) return { size, modifiedMs };
  if (!createdByOne && !isNamedByBytes(key, body)) throw failure(TAKEN, { op: 'store', url: store.url, key });
  if (canDelete) await deleteObject(store, key, signal);
  throw senseless(
    'store',
    store.url,
    key,
    `the stored object has ${size} bytes instead of ${body.byteLength}`,
  );
}

/**
 * The time until which an object that is put now is protected, milliseconds since 1970; undefined without Object Lock.
 */
function retainUntil({ access: { objectLock }, client, clock }: S3Store): number | undefined {
  if (objectLock === undefined) return undefined;
  // The library tracks how far the store's clock differs from this machine's.
  return clock.now() + client.config.systemClockOffset + objectLock.days * DAY_MS;
}

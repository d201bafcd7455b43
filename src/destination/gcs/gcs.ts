/**
 * A bucket of Google Cloud Storage as a destination: the key, below a prefix, is the name of the object.
 *
 * A put sends the MD5 of its bytes, which the store compares, and the condition that no such object exists, which the
 * store enforces even between concurrent writers.
 */
import { createHash } from 'node:crypto';
import { finished } from 'node:stream/promises';
import type { Bucket, File, StorageOptions } from '@google-cloud/storage';
import { DestinationError, RequestError } from '../../base/errors.ts';
import type { GoogleAccess } from '../access.ts';
import { bodyStream, collectBody } from '../body.ts';
import { largestObject } from '../bounds.ts';
import { extentOf } from '../byte-range.ts';
import type { ByteRange, Destination, ObjectStat } from '../destination.ts';
import { flatDestination } from '../flat-destination.ts';
import { failure, meaning } from '../http-failure.ts';
import { onLiveConnection, storeAgents } from '../kept-connections.ts';
import type { UploadPace } from '../limited.ts';
import { type GooglePlace, plainUrl } from '../location.ts';
import type { AskPage, StoreObject } from '../ordered-pages.ts';
import { type Moving, STALL_MS, whileMoving } from '../stall.ts';
import { believeOnlyStore, OpenRequests, spareOthers, tellMissingCredentials } from './gcs-requests.ts';
import { googleFailure, googleStatus, NO_BUCKET } from './gcs-failure.ts';
import { goThroughProxy, refuseEmulator } from './gcs-environment.ts';

export interface GoogleOptions {
  readonly pace?: UploadPace | undefined;
  /** How long nothing may move before a call fails, in milliseconds. */
  readonly stallMs?: number;
}

const PARALLEL = 16;
const GOOGLE = 'https://storage.googleapis.com';
const PAGE_LENGTH = 1000;

/** A name that is not a valid key, so that no object ever has it. */
const TRIAL = 'HOLDFAST-TRIAL-delete';

const live = new AbortController().signal;

/**
 * Opens the bucket with two requests: one to see that it exists, one to see whether these credentials may delete.
 * Rejects with `not-found` when there is no such bucket, and with `denied` when the credentials are not sufficient.
 */
export async function openGoogleDestination(
  place: GooglePlace,
  access: GoogleAccess = {},
  options: GoogleOptions = {},
  signal: AbortSignal = live,
): Promise<Destination> {
  const store: GoogleStore = {
    bucket: await bucketOf(place, access),
    root: place.prefix === '' ? '' : `${place.prefix}/`,
    url: plainUrl(place),
    storageClass: access.storageClass,
    pace: options.pace,
    stallMs: options.stallMs ?? STALL_MS,
    requests: new OpenRequests(),
  };
  try {
    const asking = mayDelete(store, signal);
    // When both requests fail, the failure of the list says more about what is wrong.
    asking.catch(() => {});
    await listPage(store, '', undefined, 1, signal, () => {});
    return googleDestination(store, await asking);
  } catch (error) {
    store.requests.close();
    if (error instanceof DestinationError && error.kind === 'not-found')
      throw failure(NO_BUCKET, { op: 'open', url: store.url });
    throw error;
  }
}

interface GoogleStore {
  readonly bucket: Bucket;
  readonly root: string;
  readonly url: string;
  readonly storageClass: string | undefined;
  readonly pace: UploadPace | undefined;
  readonly stallMs: number;
  readonly requests: OpenRequests;
}

async function bucketOf(place: GooglePlace, access: GoogleAccess): Promise<Bucket> {
  refuseEmulator(place);
  const agents = storeAgents({ target: new URL(place.endpoint ?? GOOGLE) }, plainUrl(place));
  const { Storage } = await import('@google-cloud/storage');
  const options: StorageOptions = {
    retryOptions: { autoRetry: false, maxRetries: 0 },
    ...(place.endpoint === undefined ? {} : { apiEndpoint: place.endpoint }),
    // The library takes any other endpoint for a test server and does not sign in there unless told to. It may only
    // over TLS.
    ...(place.endpoint?.startsWith('https:') === true && access.credentials !== undefined
      ? { useAuthWithCustomEndpoint: true }
      : {}),
    // The agent for requests to the sign-in service.
    clientOptions: {
      transporterOptions: { agent: (url) => (url.protocol === 'https:' ? agents.https : agents.http) },
    },
    ...serviceAccount(access.credentials),
  };
  const storage = believeOnlyStore(new Storage(options));
  tellMissingCredentials(storage);
  goThroughProxy(storage, place);
  return storage.bucket(place.bucket);
}

/** The parts of a service account's key that the library needs. Without a key it looks for the default credentials. */
function serviceAccount(text: string | undefined): StorageOptions {
  if (text === undefined) return {};
  try {
    const key = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { client_email: email, private_key: secret, project_id: project } = key;
    if (typeof email === 'string' && typeof secret === 'string')
      return {
        credentials: { client_email: email, private_key: secret },
        ...(typeof project === 'string' ? { projectId: project } : {}),
      };
  } catch {
    // The parser's message would repeat a part of the key.
  }
  throw new RequestError(
    'INVALID_DESTINATION',
    'The credentials for Google Cloud Storage are not the key of a service account.',
    {
      op: 'open destination',
      hint: 'Create a JSON key for the service account, and set "credentials" to the file.',
    },
  );
}

function googleDestination(store: GoogleStore, canDelete: boolean): Destination {
  return flatDestination(
    store,
    { canDelete, maxParallel: PARALLEL },
    {
      put: async (key, body, signal) => await putFile(store, key, body, canDelete, signal),
      get: async (key, range, signal) => await getFile(store, key, range, signal),
      stat: async (key, signal) => await statFile(store, key, signal),
      listPage: async (prefix, next, signal, take) =>
        await listPage(store, prefix, next, PAGE_LENGTH, signal, take),
      delete: async (key, signal) => await deleteFile(store, key, signal),
      close: async () => store.requests.close(),
    },
  );
}

interface Question {
  /** As a verb: "store", "read". */
  readonly op: string;
  readonly key?: string;
  /** Failures that the caller handles itself; they are rethrown unchanged. */
  readonly mine?: (error: unknown) => boolean;
  /** Largest size of the answer in bytes; that of a page by default. */
  readonly largest?: number;
  /** The answer is long and the library reads it whole, so its arriving bytes are counted as progress. */
  readonly isLong?: boolean;
}

async function ask<T>(
  { url, stallMs, requests }: GoogleStore,
  { op, key, mine, largest, isLong = false }: Question,
  signal: AbortSignal,
  call: (moving: Moving) => Promise<T>,
): Promise<T> {
  try {
    return await whileMoving(
      `${op} ${key ?? url}`,
      stallMs,
      signal,
      async (moving) =>
        await requests.during(
          moving.signal,
          async () => await onLiveConnection(moving.signal, largest, async () => await call(moving)),
          isLong ? moving.moved : undefined,
        ),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (mine?.(error) === true) throw error;
    throw googleFailure(error, { op, url, key });
  }
}

function fileOf({ bucket, root }: GoogleStore, key: string): File {
  return bucket.file(root + key);
}

async function putFile(
  store: GoogleStore,
  key: string,
  body: Uint8Array,
  canDelete: boolean,
  signal: AbortSignal,
): Promise<ObjectStat> {
  const md5 = createHash('md5').update(body).digest('base64');
  const file = fileOf(store, key);
  await ask(store, { op: 'store', key }, signal, async (moving) => {
    const target = file.createWriteStream({
      resumable: false,
      validation: false,
      preconditionOpts: { ifGenerationMatch: 0 },
      metadata: {
        contentType: 'application/octet-stream',
        md5Hash: md5,
        ...(store.storageClass !== undefined && key.startsWith('packs/')
          ? { storageClass: store.storageClass }
          : {}),
      },
    });
    const source = bodyStream(body, key, store.pace, moving);
    const stop = (): void => void target.destroy();
    moving.signal.addEventListener('abort', stop, { once: true });
    try {
      source.on('error', (error) => target.destroy(error));
      await finished(source.pipe(target));
    } finally {
      moving.signal.removeEventListener('abort', stop);
    }
  });
  const stat = await statFile(store, key, signal, md5);
  if (stat !== undefined && stat.size === body.byteLength) return stat;
  if (canDelete) await deleteFile(store, key, signal);
  throw senseless(store, 'store', key, 'the stored bytes are not the ones that were sent');
}

async function statFile(store: GoogleStore, key: string, signal: AbortSignal): Promise<ObjectStat>;
async function statFile(
  store: GoogleStore,
  key: string,
  signal: AbortSignal,
  md5: string,
): Promise<ObjectStat | undefined>;
/** Undefined when the object has another checksum than `md5`; without `md5` never. */
async function statFile(
  store: GoogleStore,
  key: string,
  signal: AbortSignal,
  md5?: string,
): Promise<ObjectStat | undefined> {
  const [facts] = await ask(
    store,
    { op: 'inspect', key },
    signal,
    async () => await fileOf(store, key).getMetadata(),
  );
  if (md5 !== undefined && facts.md5Hash !== undefined && facts.md5Hash !== md5) return undefined;
  const size = Number(facts.size ?? Number.NaN);
  const modifiedMs = Date.parse(facts.timeCreated ?? '');
  if (!Number.isSafeInteger(size) || !Number.isFinite(modifiedMs))
    throw senseless(store, 'inspect', key, 'the answer lacks a size or time');
  return { size, modifiedMs };
}

async function getFile(
  store: GoogleStore,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  // The library hides the headers of an answer, so the expected length is asked for beforehand.
  const { size } = await statFile(store, key, signal);
  const { start, length } = extentOf(range, size, key);
  if (length === 0) return Buffer.alloc(0);
  return await ask(store, { op: 'read', key, largest: largestObject(key) }, signal, async (moving) => {
    const stream = fileOf(store, key).createReadStream({
      validation: false,
      decompress: false,
      ...(range === undefined ? {} : { start, end: start + length - 1 }),
    });
    return await collectBody(spareOthers(stream), length, key, moving);
  });
}

/** Resolves with the token of the next page. */
async function listPage(
  store: GoogleStore,
  prefix: string,
  pageToken: string | undefined,
  maxResults: number,
  signal: AbortSignal,
  take: Parameters<AskPage>[1],
): Promise<string | undefined> {
  // By the request itself: what the library makes of each object takes as much memory as a small object.
  const [page] = await ask(store, { op: 'list', isLong: true }, signal, async () => {
    return await store.bucket.request({
      uri: '/o',
      qs: {
        prefix: store.root + prefix,
        maxResults,
        fields: 'kind,nextPageToken,items(kind,name,size,timeCreated)',
        ...(pageToken === undefined ? {} : { pageToken }),
      },
    });
  });
  const { items = [], nextPageToken } = (page ?? {}) as {
    readonly items?: unknown;
    readonly nextPageToken?: unknown;
  };
  if (!Array.isArray(items) || !['string', 'undefined'].includes(typeof nextPageToken))
    throw senseless(store, 'list', undefined, 'the answer is not a list');
  for (const item of items as readonly unknown[]) take(listed(store, item));
  return typeof nextPageToken === 'string' ? nextPageToken : undefined;
}

function listed(store: GoogleStore, item: unknown): StoreObject {
  const { name, size, timeCreated } = (item ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string') throw senseless(store, 'list', undefined, 'an object in it has no name');
  return {
    name,
    size: Number(size ?? Number.NaN),
    modifiedMs: typeof timeCreated === 'string' ? Date.parse(timeCreated) : Number.NaN,
  };
}

async function deleteFile(store: GoogleStore, key: string, signal: AbortSignal): Promise<void> {
  const mine = (error: unknown): boolean => googleStatus(error) === 404;
  try {
    await ask(store, { op: 'delete', key, mine }, signal, async () => {
      await fileOf(store, key).delete();
    });
  } catch (error) {
    if (!mine(error)) throw error;
  }
}

/** Whether these credentials may delete. It is found out by deleting an object that does not exist. */
async function mayDelete(store: GoogleStore, signal: AbortSignal): Promise<boolean> {
  try {
    await deleteFile(store, TRIAL, signal);
    return true;
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'denied') return false;
    throw error;
  }
}

function senseless(
  { url }: GoogleStore,
  op: string,
  key: string | undefined,
  what: string,
): DestinationError {
  const hint = 'Check that no proxy answers instead of the store, and run a check of the repository.';
  const nonsense = { ...meaning('corrupt-reply', 'now', what, hint), details: { whole: true } };
  return failure(nonsense, { op, url, key });
}

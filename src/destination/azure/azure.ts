/**
 * A container of Azure Blob Storage as a destination: the key, below a prefix, is the name of a block blob.
 *
 * A put sends the MD5 of its bytes, which the store compares, and the condition that no such blob exists, which the
 * store enforces even between concurrent writers.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { BlobDownloadResponseParsed } from '@azure/storage-blob';
import { DestinationError } from '../../base/errors.ts';
import type { DestinationKind } from '../../base/errors.ts';
import type { AzureAccess } from '../access.ts';
import { bodyStream, collectBody } from '../body.ts';
import { largestObject } from '../bounds.ts';
import { extentOf, partOf } from '../byte-range.ts';
import type { ByteRange, Destination, ObjectStat } from '../destination.ts';
import { TAKEN, failure } from '../http-failure.ts';
import { flatDestination } from '../flat-destination.ts';
import type { UploadPace } from '../limited.ts';
import { plainUrl, type AzurePlace } from '../location.ts';
import { STALL_MS, type Moving } from '../stall.ts';
import { AZURE_PARALLEL, ask, containerOf, senseless, type AzureStore } from './azure-client.ts';
import { azureCode, azureStatus } from './azure-failure.ts';
import { listPage } from './azure-list.ts';

export interface AzureOptions {
  readonly pace?: UploadPace | undefined;
  /** How long nothing may move before a call fails, in milliseconds. */
  readonly stallMs?: number;
}

const PAGE_LENGTH = 1000;

/** A name that is not a valid key, so that no object ever has it. */
const TRIAL = 'HOLDFAST-TRIAL-delete';

const live = new AbortController().signal;

/**
 * Opens the container with two requests: one to see that it exists, one to see whether these credentials may delete.
 * Rejects with `not-found` when there is no such container, and with `denied` when the credentials are not sufficient.
 */
export async function openAzureDestination(
  place: AzurePlace,
  access: AzureAccess = {},
  options: AzureOptions = {},
  signal: AbortSignal = live,
): Promise<Destination> {
  const store: AzureStore = {
    ...(await containerOf(place, access)),
    root: place.prefix === '' ? '' : `${place.prefix}/`,
    url: plainUrl(place),
    pace: options.pace,
    stallMs: options.stallMs ?? STALL_MS,
  };
  try {
    const asking = mayDelete(store, signal);
    // When both requests fail, the failure of the list says more about what is wrong.
    asking.catch(() => {});
    await listPage(store, '', undefined, 1, signal, () => {});
    return azureDestination(store, await asking);
  } catch (error) {
    store.agents.close();
    throw error;
  }
}

function azureDestination(store: AzureStore, canDelete: boolean): Destination {
  return flatDestination(
    store,
    { canDelete, maxParallel: AZURE_PARALLEL },
    {
      put: async (key, body, signal) => await putBlob(store, key, body, canDelete, signal),
      get: async (key, range, signal) => await getBlob(store, key, range, signal),
      stat: async (key, signal) => await statBlob(store, key, signal),
      listPage: async (prefix, next, signal, take) =>
        await listPage(store, prefix, next, PAGE_LENGTH, signal, take),
      delete: async (key, signal) => await deleteBlob(store, key, signal),
      close: async () => store.agents.close(),
    },
  );
}

async function putBlob(
  store: AzureStore,
  key: string,
  body: Uint8Array,
  canDelete: boolean,
  signal: AbortSignal,
): Promise<ObjectStat> {
  const md5 = createHash('md5').update(body).digest();
  const blob = store.container.getBlockBlobClient(store.root + key);
  try {
    await ask(store, { op: 'store', key }, signal, async (moving) => {
      await blob.upload(() => bodyStream(body, key, store.pace, moving), body.byteLength, {
        abortSignal: moving.signal,
        conditions: { ifNoneMatch: '*' },
        transactionalContentMD5: md5,
        blobHTTPHeaders: { blobContentType: 'application/octet-stream' },
      });
    });
  } catch (error) {
    // Credentials that may create but not overwrite are denied where the blob exists, without being told why.
    if (!isKind(error, 'denied') || !(await isThere(store, key, signal))) throw error;
    throw failure(TAKEN, { op: 'store', url: store.url, key }, error);
  }
  const { contentMD5: stored, ...stat } = await blobFacts(store, key, signal);
  if (stat.size === body.byteLength && (stored === undefined || md5.equals(stored))) return stat;
  if (canDelete) await deleteBlob(store, key, signal);
  throw senseless(
    store,
    'store',
    key,
    `the stored object has ${stat.size} bytes instead of ${body.byteLength}`,
  );
}

async function isThere(store: AzureStore, key: string, signal: AbortSignal): Promise<boolean> {
  try {
    await statBlob(store, key, signal);
    return true;
  } catch (error) {
    if (isKind(error, 'not-found') || isKind(error, 'denied')) return false;
    throw error;
  }
}

function isKind(error: unknown, kind: DestinationKind): boolean {
  return error instanceof DestinationError && error.kind === kind;
}

async function blobFacts(
  store: AzureStore,
  key: string,
  signal: AbortSignal,
): Promise<ObjectStat & { readonly contentMD5: Uint8Array | undefined }> {
  const blob = store.container.getBlockBlobClient(store.root + key);
  const reply = await ask(
    store,
    { op: 'inspect', key },
    signal,
    async ({ signal: abortSignal }) => await blob.getProperties({ abortSignal }),
  );
  const { contentLength: size, lastModified, contentMD5 } = reply;
  if (size === undefined || lastModified === undefined)
    throw senseless(store, 'inspect', key, 'the answer lacks a size or time');
  return { size, modifiedMs: lastModified.getTime(), contentMD5 };
}

async function statBlob(store: AzureStore, key: string, signal: AbortSignal): Promise<ObjectStat> {
  const { size, modifiedMs } = await blobFacts(store, key, signal);
  return { size, modifiedMs };
}

async function getBlob(
  store: AzureStore,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  const isOrdinary =
    range === undefined ||
    (Number.isSafeInteger(range.offset) &&
      Number.isSafeInteger(range.length) &&
      range.offset >= 0 &&
      range.length > 0);
  if (!isOrdinary) {
    // The store supports neither ranges that count from the end nor empty ones.
    const { size } = await statBlob(store, key, signal);
    const { start, length } = extentOf(range, size, key);
    if (length === 0) return Buffer.alloc(0);
    return await getBlob(store, key, { offset: start, length }, signal);
  }
  const mine = (error: unknown): boolean => azureStatus(error) === 416;
  try {
    return await ask(
      store,
      { op: 'read', key, mine, largest: largestObject(key) },
      signal,
      async (moving) => await download(store, key, range, moving),
    );
  } catch (error) {
    if (!mine(error)) throw error;
    const { size } = await statBlob(store, key, signal);
    extentOf(range, size, key);
    throw senseless(store, 'read', key, 'the store says that an existing part does not exist', error);
  }
}

async function download(
  store: AzureStore,
  key: string,
  range: ByteRange | undefined,
  moving: Moving,
): Promise<Buffer> {
  const blob = store.container.getBlockBlobClient(store.root + key);
  const reply = await blob.download(range?.offset ?? 0, range?.length, {
    abortSignal: moving.signal,
    maxRetryRequests: 0,
  });
  moving.moved();
  const body = reply.readableStreamBody as Readable | undefined;
  try {
    const { length, isPart } = expectedLength(store, key, range, reply);
    if (body === undefined) throw senseless(store, 'read', key, 'the answer has no body');
    const bytes = await collectBody(body, length, key, moving);
    if (range === undefined || isPart) return bytes;
    return partOf(bytes, { start: range.offset, end: range.offset + range.length });
  } finally {
    body?.destroy();
  }
}

function expectedLength(
  store: AzureStore,
  key: string,
  range: ByteRange | undefined,
  { contentLength: length, contentRange }: BlobDownloadResponseParsed,
): { readonly length: number; readonly isPart: boolean } {
  if (length === undefined || length > largestObject(key))
    throw senseless(store, 'read', key, 'the answer has no length or is too long');
  if (range === undefined) return { length, isPart: false };
  // A server may answer a range with the whole object (RFC 9110, 14.2), and proxies drop the header of ranges.
  if (contentRange === undefined) {
    extentOf(range, length, key);
    return { length, isPart: false };
  }
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange) ?? [];
  if (from === undefined) throw senseless(store, 'read', key, 'the store does not say which part it sent');
  extentOf(range, Number(size), key);
  if (
    Number(from) !== range.offset ||
    Number(to) !== range.offset + range.length - 1 ||
    length !== range.length
  )
    throw senseless(store, 'read', key, 'the store sent a different part than requested');
  return { length, isPart: true };
}

async function deleteBlob(store: AzureStore, key: string, signal: AbortSignal): Promise<void> {
  const mine = (error: unknown): boolean =>
    azureStatus(error) === 404 && azureCode(error) !== 'ContainerNotFound';
  try {
    await ask(store, { op: 'delete', key, mine }, signal, async ({ signal: abortSignal }) => {
      await store.container.getBlockBlobClient(store.root + key).delete({ abortSignal });
    });
  } catch (error) {
    if (!mine(error)) throw error;
  }
}

/** Whether these credentials may delete. It is found out by deleting a blob that does not exist. */
async function mayDelete(store: AzureStore, signal: AbortSignal): Promise<boolean> {
  try {
    await deleteBlob(store, TRIAL, signal);
    return true;
  } catch (error) {
    if (isKind(error, 'denied')) return false;
    throw error;
  }
}

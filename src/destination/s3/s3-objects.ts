/** Stores, reads, deletes and protects objects of an S3 store. Each answer is compared with what was asked for. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import { DestinationError, isProtectedForNow } from '../../base/errors.ts';
import { bodyStream, collectBody } from '../body.ts';
import { largestObject } from '../bounds.ts';
import { extentOf, partOf } from '../byte-range.ts';
import type { ByteRange } from '../destination.ts';
import { TAKEN, failure, meaning } from '../http-failure.ts';
import type { Moving } from '../stall.ts';
import type { Question, S3Store } from './s3-client.ts';
import { isBucketMissing, senseless, statusOf } from './s3-failure.ts';
import { askAbout, askHead, headObject } from './s3-look.ts';

export interface PutManner {
  /** Create only, unless the key exists. Whether the store supports that was found out before. */
  readonly ifNoneMatch: boolean;
  /** The store keeps a checksum with the object and compares it with the bytes. */
  readonly checksum: boolean;
  /** Time until which nobody may remove it, milliseconds since 1970; undefined for no protection. */
  readonly retainUntilMs?: number | undefined;
}

/**
 * To read from the end of an object, up to this many bytes more than needed are read instead of asking for the size
 * first.
 */
const SUFFIX_BYTES = 1024 ** 2;

const CONFLICT = new Set([409, 412]);

/**
 * Puts an object and returns the SHA-256 of its bytes (base64). Rejects with `exists` when the store says that the key
 * is taken.
 */
export async function sendObject(
  store: S3Store,
  key: string,
  body: Uint8Array,
  manner: PutManner,
  signal: AbortSignal,
): Promise<string> {
  const { access, bucket, client, library, pace, root } = store;
  const sha256 = createHash('sha256').update(body).digest();
  const input: PutObjectCommandInput = {
    Bucket: bucket,
    Key: root + key,
    ContentLength: body.byteLength,
    ContentType: 'application/octet-stream',
    ...(manner.ifNoneMatch ? { IfNoneMatch: '*' } : {}),
    ...(manner.checksum ? { ChecksumAlgorithm: 'SHA256', ChecksumSHA256: sha256.toString('base64') } : {}),
    ...(access.storageClass !== undefined && key.startsWith('packs/')
      ? { StorageClass: access.storageClass as NonNullable<PutObjectCommandInput['StorageClass']> }
      : {}),
    ...(access.serverSideEncryption === undefined
      ? {}
      : { ServerSideEncryption: access.serverSideEncryption }),
    ...(access.kmsKeyId === undefined ? {} : { SSEKMSKeyId: access.kmsKeyId }),
    // A bucket with Object Lock requires a checksum of each object, and does not say so in advance.
    ...(manner.checksum ? {} : { ContentMD5: createHash('md5').update(body).digest('base64') }),
    ...retention(store, manner),
  };
  const mine = (error: unknown): boolean => CONFLICT.has(statusOf(error) ?? 0);
  try {
    await store.ask({ op: 'store', key, mine }, signal, async (moving) => {
      const command = new library.PutObjectCommand({ ...input, Body: bodyStream(body, key, pace, moving) });
      command.middlewareStack.add(
        (next) => async (step) => {
          const { headers } = step.request as { headers: Record<string, string> };
          // Signed with the other headers, so that the store compares it with the bytes that arrive.
          headers['x-amz-content-sha256'] = sha256.toString('hex');
          return await next(step);
        },
        { step: 'build', name: 'holdfastContentHash' },
      );
      await client.send(command, { abortSignal: moving.signal });
    });
  } catch (error) {
    if (!mine(error)) throw lacksLock(error, manner);
    throw await conflict(store, key, error, signal);
  }
  return sha256.toString('base64');
}

function retention(
  { access: { objectLock } }: S3Store,
  { retainUntilMs }: PutManner,
): Partial<PutObjectCommandInput> {
  if (objectLock === undefined || retainUntilMs === undefined) return {};
  return {
    ObjectLockMode: objectLock.mode === 'compliance' ? 'COMPLIANCE' : 'GOVERNANCE',
    ObjectLockRetainUntilDate: new Date(retainUntilMs),
  };
}

/** Adds a hint about Object Lock: a store that refuses an object with a time of protection rarely says why. */
function lacksLock(error: unknown, { retainUntilMs }: PutManner): unknown {
  if (retainUntilMs === undefined || !(error instanceof DestinationError) || error.kind !== 'unsupported')
    return error;
  const { kind, message, op, details, retry, cause } = error;
  const hint =
    'objectLockDays is set: Object Lock must be enabled on the bucket. Otherwise set objectLockDays to null.';
  return new DestinationError(kind, message, { op, hint, details, retry, cause });
}

/**
 * The error for a refused creation. When two writers create the same object, the store may report a conflict to the
 * slower one before the object exists.
 */
async function conflict(
  store: S3Store,
  key: string,
  error: unknown,
  signal: AbortSignal,
): Promise<DestinationError> {
  const action = { op: 'store', url: store.url, key };
  if (statusOf(error) === 412) return failure(TAKEN, action, error);
  try {
    await headObject(store, key, signal);
    return failure(TAKEN, action, error);
  } catch (missing) {
    if (!(missing instanceof DestinationError) || missing.kind !== 'not-found') throw missing;
    return failure(
      meaning('unreachable', 'now', 'the same object is being changed at the moment', 'Try again.'),
      action,
      error,
    );
  }
}

export async function getObject(
  store: S3Store,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  if (range === undefined) return await getWhole(store, key, signal);
  const { offset, length } = range;
  const isOrdinary = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && length > 0;
  const fromEnd = offset < 0 && length <= -offset && -offset - length <= SUFFIX_BYTES;
  // A range that no single request can express: the object's size is asked for first.
  if (!isOrdinary || (offset < 0 && !fromEnd)) {
    const { size } = await headObject(store, key, signal);
    const { start, length: exact } = extentOf(range, size, key);
    if (exact === 0) return Buffer.alloc(0);
    return await getObject(store, key, { offset: start, length: exact }, signal);
  }
  const asked = fromEnd ? `bytes=${offset}` : `bytes=${offset}-${offset + length - 1}`;
  const mine = (error: unknown): boolean => statusOf(error) === 416;
  try {
    const { bytes, total } = await fetchBytes(store, key, { asked, range, mine }, signal);
    if (!fromEnd) return bytes;
    extentOf(range, total, key);
    // A copy of exactly the bytes that were asked for, in memory of its own.
    return bytes.length === length ? bytes : Buffer.from(new Uint8Array(bytes.subarray(0, length)).buffer);
  } catch (error) {
    if (!mine(error)) throw error;
    const { size } = await headObject(store, key, signal);
    extentOf(range, size, key);
    throw senseless('read', store.url, key, 'the store says that an existing part does not exist', error);
  }
}

/** Reads a whole object as a range: the answer then states its length twice, so missing bytes are noticed. */
async function getWhole(store: S3Store, key: string, signal: AbortSignal): Promise<Buffer> {
  const mine = (error: unknown): boolean => statusOf(error) === 416;
  try {
    return (await fetchBytes(store, key, { asked: 'bytes=0-', range: undefined, mine }, signal)).bytes;
  } catch (error) {
    if (!mine(error)) throw error;
    const { size } = await headObject(store, key, signal);
    if (size === 0) return Buffer.alloc(0);
    throw senseless('read', store.url, key, 'the store says that an existing object does not exist', error);
  }
}

interface Part {
  readonly asked: string;
  /** Undefined for the whole object. */
  readonly range: ByteRange | undefined;
  readonly mine: NonNullable<Question['mine']>;
}

async function fetchBytes(
  store: S3Store,
  key: string,
  part: Part,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly total: number }> {
  const { bucket, client, library, root, url } = store;
  const largest = largestObject(key);
  return await askAbout(store, { op: 'read', key, mine: part.mine, largest }, signal, async (moving) => {
    const command = new library.GetObjectCommand({ Bucket: bucket, Key: root + key, Range: part.asked });
    const reply = await client.send(command, { abortSignal: moving.signal });
    moving.moved();
    const body = reply.Body as Readable | undefined;
    try {
      const {
        length,
        total,
        part: wanted,
      } = expectedLength(url, key, part.range, {
        length: reply.ContentLength,
        range: reply.ContentRange,
        status: reply.$metadata.httpStatusCode,
      });
      if (body === undefined) throw senseless('read', url, key, 'the answer has no body');
      const bytes = await collectBody(body, length, key, moving);
      return { bytes: wanted === undefined ? bytes : partOf(bytes, wanted), total };
    } finally {
      body?.destroy();
    }
  });
}

/** How many bytes must arrive, according to the headers of the answer, and the part of them that is wanted if not all are. */
function expectedLength(
  url: string,
  key: string,
  range: ByteRange | undefined,
  said: {
    readonly length: number | undefined;
    readonly range: string | undefined;
    readonly status: number | undefined;
  },
): { readonly length: number; readonly total: number; readonly part?: Span } {
  if (said.length === undefined || said.length > largestObject(key))
    throw senseless('read', url, key, 'the answer has no length or is too long');
  const { length } = said;
  // A server may answer a range with the whole object (RFC 9110, 14.2), and proxies drop the header of ranges. With a range, a
  // status 200 comes from proxies that take the part themselves.
  if (said.status === 200 && said.range === undefined) {
    if (range === undefined) return { length, total: length };
    if (range.offset >= 0) extentOf(range, length, key);
    return { length, total: length, part: placeOf(range, length) };
  }
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(said.range ?? '') ?? [];
  if (from === undefined || to === undefined || size === undefined)
    throw senseless('read', url, key, 'the store does not say which part it sent');
  const total = Number(size);
  const { start, end } = placeOf(range, total);
  // When the object is shorter than the range, this error says so.
  if (range !== undefined && range.offset >= 0) extentOf(range, total, key);
  if (Number(from) !== start || Number(to) !== end - 1 || length !== end - start)
    throw senseless('read', url, key, 'the store sent a different part than requested');
  return { length, total };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function placeOf(range: ByteRange | undefined, total: number): Span {
  if (range === undefined) return { start: 0, end: total };
  if (range.offset < 0) return { start: Math.max(0, total + range.offset), end: total };
  return { start: range.offset, end: range.offset + range.length };
}

export async function deleteObject(
  store: S3Store,
  key: string,
  signal: AbortSignal,
  ifMatch?: string,
): Promise<void> {
  const { bucket, client, library, root } = store;
  try {
    await askAbout(store, { op: 'delete', key }, signal, async (moving) => {
      const command = new library.DeleteObjectCommand({
        Bucket: bucket,
        Key: root + key,
        ...(ifMatch === undefined ? {} : { IfMatch: ifMatch }),
      });
      const { DeleteMarker } = await client.send(command, { abortSignal: moving.signal });
      if (DeleteMarker === true) store.seen.keepsDeleted = 'hidden';
    });
  } catch (error) {
    if (isProtectedForNow(error)) store.seen.keepsDeleted ??= 'refused';
    // Stores other than Amazon report that there is nothing to delete.
    if (!(error instanceof DestinationError) || error.kind !== 'not-found' || isBucketMissing(error))
      throw error;
  }
}

/** Protects the object from removal until that time. A later end that is already set is never shortened. */
export async function retainObject(
  store: S3Store,
  key: string,
  untilMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { objectLock } = store.access;
  if (objectLock === undefined) return;
  try {
    await protect(store, objectLock.mode, key, untilMs, signal);
  } catch (error) {
    // An attempt to shorten the time is refused like one without the right to change it.
    const refused = error instanceof DestinationError && error.kind === 'denied';
    if (!refused || !((await protectedUntil(store, key, signal)) >= untilMs)) throw error;
  }
}

/** The end of the object's protection, milliseconds since 1970; 0 where the store does not say. */
async function protectedUntil(store: S3Store, key: string, signal: AbortSignal): Promise<number> {
  const reply = await askHead(store, key, signal);
  return reply.ObjectLockRetainUntilDate?.getTime() ?? 0;
}

async function protect(
  store: S3Store,
  mode: 'compliance' | 'governance',
  key: string,
  untilMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { bucket, client, library, root } = store;
  await store.ask({ op: 'protect', key }, signal, async (moving: Moving) => {
    const command = new library.PutObjectRetentionCommand({
      Bucket: bucket,
      Key: root + key,
      Retention: {
        Mode: mode === 'compliance' ? 'COMPLIANCE' : 'GOVERNANCE',
        RetainUntilDate: new Date(untilMs),
      },
    });
    await client.send(command, { abortSignal: moving.signal });
  });
}

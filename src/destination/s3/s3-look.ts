/**
 * One object of an S3 store looked at, and what shows that it is not there. "Not found" is said also by proxies whose
 * store does not run: only what the store itself says counts, since nothing that counts as absent is asked for again.
 */
import type { Readable } from 'node:stream';
import type { HeadObjectCommandOutput } from '@aws-sdk/client-s3';
import { DestinationError } from '../../base/errors.ts';
import type { ObjectStat } from '../destination.ts';
import { NOT_THE_STORE, failure } from '../http-failure.ts';
import type { Moving } from '../stall.ts';
import type { Question, S3Store } from './s3-client.ts';
import {
  absent,
  isNotFound,
  isNumbered,
  lacksReason,
  notSaidByTheStore,
  senseless,
  statusOf,
} from './s3-failure.ts';

export interface ObjectHead extends ObjectStat {
  /** Base64; undefined where the store keeps none. */
  readonly sha256: string | undefined;
}

/** @throws {DestinationError} `not-found` when the store itself says that there is none */
export async function headObject(store: S3Store, key: string, signal: AbortSignal): Promise<ObjectHead> {
  const reply = await askHead(store, key, signal);
  return { ...statOf(store, key, reply), sha256: reply.ChecksumSHA256 };
}

/** All that the store says of an object. @throws {DestinationError} as `headObject` */
export async function askHead(
  store: S3Store,
  key: string,
  signal: AbortSignal,
): Promise<HeadObjectCommandOutput> {
  const { bucket, client, library, root } = store;
  const question = { op: 'look at', key, mine: isNotFound };
  try {
    return await store.ask(question, signal, async (moving) => {
      const command = new library.HeadObjectCommand({
        Bucket: bucket,
        Key: root + key,
        ChecksumMode: 'ENABLED',
      });
      return await client.send(command, { abortSignal: moving.signal });
    });
  } catch (error) {
    // Such an answer has no body that could say why.
    if (isNotFound(error)) throw await whyAbsent(store, key, error, signal);
    if (error instanceof DestinationError && UNEXPLAINED.has(Number(error.details['status'])))
      await askWhy(store, key, signal);
    throw error;
  }
}

const UNEXPLAINED: ReadonlySet<number> = new Set([400, 403]);

async function askWhy(store: S3Store, key: string, signal: AbortSignal): Promise<void> {
  try {
    await readByte(store, key, signal);
  } catch (error) {
    if (error instanceof DestinationError && UNEXPLAINED.has(Number(error.details['status']))) throw error;
    signal.throwIfAborted();
  }
}

/** What to throw for a "not found" that came in place of the head. */
async function whyAbsent(store: S3Store, key: string, cause: unknown, signal: AbortSignal): Promise<unknown> {
  const action = { op: 'look at', url: store.url, key };
  if (isNumbered(cause)) return absent(action, cause);
  try {
    await readByte(store, key, signal);
  } catch (error) {
    signal.throwIfAborted();
    return error;
  }
  return notSaidByTheStore(action, cause);
}

/** Asks for a byte in the place of the head: that is refused with a reason. */
async function readByte(store: S3Store, key: string, signal: AbortSignal): Promise<void> {
  const { bucket, client, library, root } = store;
  const isEmpty = (error: unknown): boolean => statusOf(error) === 416;
  try {
    const question = { op: 'look at', key, mine: isEmpty };
    const { Body: body } = await askAbout(store, question, signal, async (moving) => {
      const command = new library.GetObjectCommand({ Bucket: bucket, Key: root + key, Range: 'bytes=0-0' });
      return await client.send(command, { abortSignal: moving.signal });
    });
    // It is there: its bytes are of no use.
    (body as Readable | undefined)?.destroy();
  } catch (error) {
    if (!isEmpty(error)) throw error;
  }
}

/**
 * Asks about one object, whose answer may have a body. A "not found" without a reason, which a few stores give, is
 * compared with a list. Failures are those of `ask`. @throws {DestinationError} `not-found` when the store has no such object,
 * `unreachable` when somebody else said so
 */
export async function askAbout<T>(
  store: S3Store,
  { op, key, mine, largest }: Question & { readonly key: string },
  signal: AbortSignal,
  call: (moving: Moving) => Promise<T>,
): Promise<T> {
  const isMine = (error: unknown): boolean => lacksReason(error) || mine?.(error) === true;
  try {
    return await store.ask(
      { op, key, mine: isMine, ...(largest === undefined ? {} : { largest }) },
      signal,
      call,
    );
  } catch (error) {
    if (!lacksReason(error)) throw error;
    const action = { op, url: store.url, key };
    throw (await isListed(store, action, signal)) ? notSaidByTheStore(action, error) : absent(action, error);
  }
}

/** Of all names that begin so, the shortest is the first. */
async function isListed(
  store: S3Store,
  action: { readonly op: string; readonly url: string; readonly key: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { bucket, client, library, root } = store;
  const { op, key } = action;
  const reply = await store.ask({ op, key }, signal, async (moving) => {
    const command = new library.ListObjectsV2Command({ Bucket: bucket, Prefix: root + key, MaxKeys: 1 });
    return await client.send(command, { abortSignal: moving.signal });
  });
  const { Contents: contents = [], IsTruncated: truncated, KeyCount: count } = reply;
  // An empty answer, or a page of something else.
  if (truncated === undefined && count === undefined) throw failure(NOT_THE_STORE, action);
  return contents.some(({ Key: name }) => name === root + key);
}

function statOf(
  { url }: S3Store,
  key: string,
  { ContentLength: size, LastModified: modified }: HeadObjectCommandOutput,
): ObjectStat {
  const modifiedMs = modified?.getTime() ?? Number.NaN;
  if (size === undefined || !Number.isSafeInteger(size) || size < 0 || !Number.isFinite(modifiedMs))
    throw senseless('look at', url, key, 'the answer has no size or no time');
  return { size, modifiedMs: wholeSeconds(modifiedMs) };
}

/** Lists say milliseconds where the answer about one object says seconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

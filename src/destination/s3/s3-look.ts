/**
 * Looks at single objects of an S3 store, and establishes when one does not exist. Proxies also answer "not found"
 * while their store is down. Only the store's own word is accepted, since nothing that is reported as absent is asked
 * for again.
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
  /** Base64; undefined where the store keeps no checksum. */
  readonly sha256: string | undefined;
}

/** @throws {DestinationError} `not-found` when the store itself says that there is no such object */
export async function headObject(store: S3Store, key: string, signal: AbortSignal): Promise<ObjectHead> {
  const reply = await askHead(store, key, signal);
  return { ...statOf(store, key, reply), sha256: reply.ChecksumSHA256 };
}

/** All headers of an object. @throws {DestinationError} as `headObject` */
export async function askHead(
  store: S3Store,
  key: string,
  signal: AbortSignal,
): Promise<HeadObjectCommandOutput> {
  const { bucket, client, library, root } = store;
  const question = { op: 'inspect', key, mine: isNotFound };
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
    // The answer to HEAD has no body that could give the reason.
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

/** The error to throw for a "not found" in answer to HEAD. */
async function whyAbsent(store: S3Store, key: string, cause: unknown, signal: AbortSignal): Promise<unknown> {
  const action = { op: 'inspect', url: store.url, key };
  if (isNumbered(cause)) return absent(action, cause);
  try {
    await readByte(store, key, signal);
  } catch (error) {
    signal.throwIfAborted();
    return error;
  }
  return notSaidByTheStore(action, cause);
}

/** Reads one byte instead of asking for the head: a refusal then has a body with the reason. */
async function readByte(store: S3Store, key: string, signal: AbortSignal): Promise<void> {
  const { bucket, client, library, root } = store;
  const isEmpty = (error: unknown): boolean => statusOf(error) === 416;
  try {
    const question = { op: 'inspect', key, mine: isEmpty };
    const { Body: body } = await askAbout(store, question, signal, async (moving) => {
      const command = new library.GetObjectCommand({ Bucket: bucket, Key: root + key, Range: 'bytes=0-0' });
      return await client.send(command, { abortSignal: moving.signal });
    });
    // The object exists, and its byte is not needed.
    (body as Readable | undefined)?.destroy();
  } catch (error) {
    if (!isEmpty(error)) throw error;
  }
}

/**
 * Makes a request about one object, whose answer may have a body. "Not found" without a reason, as a few stores send
 * it, is verified by a list. Failures are those of `ask`. @throws {DestinationError} `not-found` when the store has no
 * such object, `unreachable` when something else said so
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

/** Whether a list shows the key. One name is enough: of all names with this beginning the key itself comes first. */
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
  // The answer is empty, or a page of something else.
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
    throw senseless('inspect', url, key, 'the answer lacks a size or time');
  return { size, modifiedMs: wholeSeconds(modifiedMs) };
}

/** Rounds down to seconds, as lists give milliseconds and HEAD only seconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

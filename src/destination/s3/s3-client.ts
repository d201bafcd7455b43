/** The client of an S3 store, and the single way to send it requests. */
import { createHash } from 'node:crypto';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { S3Access } from '../access.ts';
import { failure, meaning, NOT_THE_STORE } from '../http-failure.ts';
import { onLiveConnection, storeAgents } from '../kept-connections.ts';
import { plainUrl, type S3Place } from '../location.ts';
import type { UploadPace } from '../limited.ts';
import { briefPolicy, type Patience, persist, sleepFor } from '../retry.ts';
import { type Moving, STALL_MS, whileMoving } from '../stall.ts';
import { amazonOf, awsSettings } from './aws-settings.ts';
import { s3Failure } from './s3-failure.ts';

export interface S3Options {
  readonly pace?: UploadPace | undefined;
  /** How long nothing may move before a call fails, in milliseconds. */
  readonly stallMs?: number;
  /** The store is about to be written to, so its abilities are tried out while it is opened. */
  readonly create?: boolean;
  readonly clock?: Clock;
  /** How to retry the requests that open the store, try it out or confirm a put. All other calls are tried once. */
  readonly patience?: Patience;
}

type Library = typeof import('@aws-sdk/client-s3');

export interface S3Store {
  readonly library: Library;
  readonly client: S3Client;
  readonly bucket: string;
  /** Prefix of every key in the store: empty, or ending in a slash. */
  readonly root: string;
  readonly url: string;
  /**
   * A hash of endpoint and bucket: what is known about one store must not be applied to another that holds a copy of
   * its objects.
   */
  readonly where: string;
  readonly access: S3Access;
  readonly pace: UploadPace | undefined;
  readonly clock: Clock;
  /** What the store's answers have shown since it was opened. */
  readonly seen: { keepsDeleted?: 'hidden' | 'refused' };
  /**
   * Sends one call. Its failures are DestinationErrors, except those that `mine` accepts, which are rethrown unchanged.
   * Rejects with the signal's reason, and with `unreachable` when nothing moves.
   */
  readonly ask: Ask;
  /** The same store with retries while it answers that it cannot do something at the moment. */
  readonly patient: S3Store;
}

export type Ask = <T>(
  question: Question,
  signal: AbortSignal,
  call: (moving: Moving) => Promise<T>,
) => Promise<T>;

export interface Question {
  /** As a verb: "store", "read". */
  readonly op: string;
  readonly key?: string;
  /** Failures that the caller handles itself; they are rethrown unchanged. */
  readonly mine?: (error: unknown) => boolean;
  /** Largest size of the answer in bytes; that of a page by default. */
  readonly largest?: number;
}

/** How many concurrent calls still help on a far and fast line. */
export const S3_PARALLEL = 16;

export async function s3Store(place: S3Place, access: S3Access, options: S3Options): Promise<S3Store> {
  const library = await import('@aws-sdk/client-s3');
  const stallMs = options.stallMs ?? STALL_MS;
  const url = plainUrl(place);
  const { region, certificates } = await awsSettings(place, access, url);
  const target = new URL(place.endpoint ?? 'https://s3.amazonaws.com');
  const agents = storeAgents({ target, certificates, maxSockets: S3_PARALLEL * 2 }, url);
  const client = new library.S3Client({
    ...clientSettings(place, access, region),
    requestHandler: {
      connectionTimeout: Math.min(stallMs, 15_000),
      httpAgent: agents.http,
      httpsAgent: agents.https,
    },
  });
  refusePages(client);
  readTimes(client);
  const ask: Ask = async ({ op, key, mine, largest }, signal, call) => {
    try {
      return await whileMoving(`${op} ${key ?? url}`, stallMs, signal, async (moving) =>
        onLiveConnection(moving.signal, largest, async () => await call(moving)),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (mine?.(error) === true) throw error;
      const action = { op, url, key };
      if (error instanceof WebPage) throw failure(NOT_THE_STORE, action, error);
      throw error instanceof UnreadableTime ? failure(noTime(error), action) : s3Failure(error, action);
    }
  };
  const { patience = { policy: briefPolicy, sleep: sleepFor } } = options;
  const parts = {
    library,
    client,
    bucket: place.bucket,
    root: place.prefix === '' ? '' : `${place.prefix}/`,
    url,
    where: createHash('sha256')
      .update(`${place.endpoint ?? amazonOf(region)}\n${place.bucket}`)
      .digest('hex'),
    access,
    pace: options.pace,
    clock: options.clock ?? systemClock,
    seen: {},
  };
  const store: S3Store = {
    ...parts,
    ask,
    get patient() {
      return patient;
    },
  };
  const patient: S3Store = {
    ...parts,
    ask: async (question, signal, call) =>
      await persist(async () => await ask(question, signal, call), patience, signal),
    get patient() {
      return patient;
    },
  };
  return store;
}

function clientSettings(place: S3Place, access: S3Access, region: string | undefined): S3ClientConfig {
  const { accessKeyId, secretAccessKey, sessionToken, profile } = access;
  return {
    // When a bucket is in another region Amazon names that, and the library follows.
    region: region ?? 'us-east-1',
    followRegionRedirects: place.endpoint === undefined,
    forcePathStyle: place.pathStyle,
    // Endpoints that are configured elsewhere have already been checked (aws-settings.ts).
    ignoreConfiguredEndpointUrls: true,
    ...(place.endpoint === undefined
      ? {}
      : { endpoint: place.endpoint, useFipsEndpoint: false, useDualstackEndpoint: false }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : {
          credentials: {
            accessKeyId,
            secretAccessKey,
            ...(sessionToken === undefined ? {} : { sessionToken }),
          },
        }),
    ...(profile === undefined ? {} : { profile }),
    // The wrapper of the destination retries, as it knows what may have been stored.
    maxAttempts: 1,
    // Other stores refuse the checksums that the library would add.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would cost a round trip for every pack, and not every store answers it.
    expectContinueHeader: false,
    logger: {
      // Otherwise the library writes its warnings to the console.
      trace: () => {},
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: () => {},
    },
  };
}

/** A successful answer that is a web page: something other than the store has answered. */
class WebPage extends Error {
  override readonly name = 'WebPage';
}

/** A time that cannot be parsed. */
class UnreadableTime extends Error {
  override readonly name = 'UnreadableTime';
}

function noTime({ message }: UnreadableTime): ReturnType<typeof meaning> {
  const shown = message.replaceAll(/[^ -~]/g, '').slice(0, 60);
  const what = `it gives a time that cannot be read: "${shown}"`;
  return meaning('unsupported', 'never', what, 'Update the store, or use another one.');
}

/**
 * Normalises the time of an object. The library accepts only the form that HTTP requires, while some stores and proxies
 * write valid times in other forms.
 */
function readTimes(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (step) => {
      const result = await next(step);
      const { body, headers } = result.response as {
        readonly body?: { destroy?: () => void };
        headers: Record<string, string>;
      };
      const text = headers['last-modified'];
      if (text === undefined) return result;
      const time = new Date(text);
      if (Number.isNaN(time.getTime())) {
        body?.destroy?.();
        throw new UnreadableTime(text);
      }
      headers['last-modified'] = time.toUTCString();
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'holdfastTimes' },
  );
}

function isHtml(type: string | undefined): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(type ?? '');
}

/** Rejects web pages before the library interprets them: a page has a length and bytes like an object. */
function refusePages(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (step) => {
      const result = await next(step);
      refuseWebPage(step.request, result.response);
      return result;
    },
    // Runs closest to the network, before the library reads the answer.
    { step: 'deserialize', priority: 'low', name: 'holdfastNoPages' },
  );
}

/** @throws {WebPage} */
export function refuseWebPage(request: unknown, response: unknown): void {
  const { body, headers, statusCode } = response as {
    readonly body?: { destroy?: () => void };
    readonly headers: Readonly<Record<string, string>>;
    readonly statusCode: number;
  };
  // Some servers label empty answers as HTML. That matters for reads only: after a put the store is asked what it has.
  const { method } = request as { readonly method: string };
  if ((method !== 'GET' && method !== 'HEAD') || statusCode >= 300 || !isHtml(headers['content-type']))
    return;
  body?.destroy?.();
  throw new WebPage(`${statusCode} with ${headers['content-type']}`);
}

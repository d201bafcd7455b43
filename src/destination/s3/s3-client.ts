/** The client of an S3 store, and the one way in which it is asked. */
import { createHash } from 'node:crypto';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { S3Access } from '../access.ts';
import { NOT_THE_STORE, failure, meaning } from '../http-failure.ts';
import { onLiveConnection } from '../kept-connections.ts';
import { plainUrl, type S3Place } from '../location.ts';
import type { UploadPace } from '../limited.ts';
import { briefPolicy, persist, sleepFor, type Patience } from '../retry.ts';
import { STALL_MS, whileMoving, type Moving } from '../stall.ts';
import { storeAgents } from '../store-agents.ts';
import { amazonOf, awsSettings } from './aws-settings.ts';
import { s3Failure } from './s3-failure.ts';

export interface S3Options {
  readonly pace?: UploadPace | undefined;
  /** How long nothing may move, in milliseconds. */
  readonly stallMs?: number;
  /** It is to be written to at once: what the store can do is tried out before. */
  readonly create?: boolean;
  readonly clock?: Clock;
  /** With what opens the store, finds out about it or confirms what it has taken; the other calls are tried once. */
  readonly patience?: Patience;
}

type Library = typeof import('@aws-sdk/client-s3');

export interface S3Store {
  readonly library: Library;
  readonly client: S3Client;
  readonly bucket: string;
  /** What every key of the store begins with: empty, or with a slash at its end. */
  readonly root: string;
  readonly url: string;
  /** A hash of where the bucket is: what is known of one store holds for no other that has its objects. */
  readonly where: string;
  readonly access: S3Access;
  readonly pace: UploadPace | undefined;
  readonly clock: Clock;
  /** What its answers have shown since it was opened. */
  readonly seen: { keepsDeleted?: 'hidden' | 'refused' };
  /**
   * One call. Its failures are DestinationErrors but for `expected`: a status that is part of the answer.
   * Rejects with the signal's reason, and with `unreachable` when nothing moves.
   */
  readonly ask: Ask;
  /** The same store, which is asked again when it cannot do something at the moment. */
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
  /** Failures that the caller understands, and gets as they are. */
  readonly mine?: (error: unknown) => boolean;
  /** Bytes of an answer that is an object; what is none has as many as a page, and is made of parts. */
  readonly largest?: number;
}

/** How many calls at once still help on a far and fast line. */
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
    // Amazon names the right one when a bucket is elsewhere, and it is asked there.
    region: region ?? 'us-east-1',
    followRegionRedirects: place.endpoint === undefined,
    forcePathStyle: place.pathStyle,
    // What else would name another address has been looked at (aws-settings.ts).
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
    // Whoever wraps the destination tries again, and knows what was stored.
    maxAttempts: 1,
    // Other stores refuse the checksums that the library adds by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A round trip for every pack, and not every store answers it.
    expectContinueHeader: false,
    logger: {
      // The library writes warnings of its own to the console otherwise.
      trace: () => {},
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: () => {},
    },
  };
}

/** A page for people, with success: somebody else answers. */
class WebPage extends Error {
  override readonly name = 'WebPage';
}

/** A time that is none. */
class UnreadableTime extends Error {
  override readonly name = 'UnreadableTime';
}

function noTime({ message }: UnreadableTime): ReturnType<typeof meaning> {
  const shown = message.replaceAll(/[^ -~]/g, '').slice(0, 60);
  const what = `it says a time that cannot be read: "${shown}"`;
  return meaning('unsupported', 'never', what, 'Update the store, or use another one.');
}

/** The library takes times in the one form that HTTP allows; stores and proxies write others, which say as much. */
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

/** Before anything is made of the answer: a page has a length and bytes as an object has. */
function refusePages(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (step) => {
      const result = await next(step);
      const { body, headers, statusCode } = result.response as {
        readonly body?: { destroy?: () => void };
        readonly headers: Readonly<Record<string, string>>;
        readonly statusCode: number;
      };
      // Some servers call an answer without a body so; whether a put was kept is asked for.
      const { method } = step.request as { readonly method: string };
      if ((method !== 'GET' && method !== 'HEAD') || statusCode >= 300 || !isHtml(headers['content-type']))
        return result;
      body?.destroy?.();
      throw new WebPage(`${statusCode} with ${headers['content-type']}`);
    },
    // Next to the network: what reads the answer comes after it.
    { step: 'deserialize', priority: 'low', name: 'holdfastNoPages' },
  );
}

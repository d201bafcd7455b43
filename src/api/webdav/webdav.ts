/**
 * Serves snapshots as a read-only folder that file managers and other WebDAV programs can open. It shares the
 * connections and guards of the API, and is off until a user turns it on.
 */
import { hostname } from 'node:os';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { errnoOf, isAbort } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import { ApiError } from '../wire/api-error.ts';
import { untilClosedOr } from '../connections/closing.ts';
import type { Clients } from '../access/clients.ts';
import type { Handler, PatientResponses } from '../connections/http-server.ts';
import { toApiError } from '../framework/framework-errors.ts';
import { hostRefusal, originRefusal } from '../access/foreign-pages.ts';
import { type RateLimits, tooMany } from '../access/rate-limits.ts';
import { requestIdOf, SECURITY_HEADERS } from '../wire/headers.ts';
import {
  type Admission,
  admit,
  createWebdavAccess,
  notAdmitted,
  turnedOff,
  WEBDAV_USER,
} from './admission.ts';
import { answerMethod } from './methods.ts';
import { sendText } from './reply.ts';
import { answerServer, asksServer } from './server-root.ts';
import { isWebdavTarget, readWebdavTarget, WEBDAV_ROOT } from './target.ts';
import { createSnapshotTree, type TreeParts } from './tree.ts';

export interface WebdavStatus {
  readonly enabled: boolean;
  /** When it was turned on, in milliseconds since 1970; null while it is off. */
  readonly created_at: number | null;
  /** URL without the secret, for which clients ask the user. */
  readonly address: string;
}

export interface WebdavOpening {
  /** URL with the secret in it. */
  readonly address: string;
  /** For clients that get the URL without the secret. */
  readonly user: string;
  readonly password: string;
}

export interface Webdav {
  readonly status: () => WebdavStatus;
  /** Turns the folder on with a new secret, which cannot be retrieved again. The previous secret becomes invalid. */
  readonly turnOn: () => WebdavOpening;
  readonly turnOff: () => void;
  readonly handle: Handler;
  /** Whether a request is for the folder, or asks the server whether there is one. */
  readonly isAsked: (request: Pick<IncomingMessage, 'method' | 'url'>) => boolean;
}

export interface WebdavParts {
  readonly agent: TreeParts['agent'];
  readonly settings: () => Settings;
  readonly store: Pick<SettingStore, 'get' | 'set'>;
  /** Keys the hash of the secret. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly rateLimits: Pick<RateLimits, 'takeForClient'>;
  readonly clients: Clients;
  readonly patient: PatientResponses;
  readonly stopping: AbortSignal;
  readonly redact: (text: string) => string;
  readonly logger?: FastifyBaseLogger | undefined;
  /** The port that the agent listens on; undefined before it listens. */
  readonly port: () => number | undefined;
}

/** Keeps browsers from running or fetching anything in a backed-up file, whatever they take it for. */
const HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
};

export function createWebdav(parts: WebdavParts): Webdav {
  const { agent, settings, store, key, clock, port } = parts;
  const access = createWebdavAccess(store, key, clock);
  const naming = (): ReturnType<TreeParts['naming']> => ({
    host: hostname(),
    timeZone: settings().timeZone,
  });
  const tree = createSnapshotTree({ agent, clock, naming });
  const addressOf = (secret?: string): string =>
    `http://127.0.0.1:${port() ?? 0}${WEBDAV_ROOT}/${secret === undefined ? '' : `${secret}/`}`;

  return {
    status: () => ({
      enabled: access.since !== undefined,
      created_at: access.since ?? null,
      address: addressOf(),
    }),
    turnOn: () => {
      const password = access.turnOn();
      return { address: addressOf(password), user: WEBDAV_USER, password };
    },
    turnOff: () => access.turnOff(),
    handle: (request, response) => void answer(request, response),
    isAsked: (request) =>
      isWebdavTarget(request.url ?? '') || (access.since !== undefined && asksServer(request)),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = requestIdOf(request.headers['x-request-id'], clock.now());
    for (const [name, value] of Object.entries({ ...HEADERS, 'x-request-id': id }))
      response.setHeader(name, value);
    try {
      if (access.since !== undefined && asksServer(request)) {
        guard(request);
        await takeTurn(request);
        answerServer(request, response);
        return;
      }
      const { admission, isFolderAddress } = await letIn(request);
      // A client that plays a film may pause it for any length of time.
      parts.patient.add(response);
      const signal = untilClosedOr(parts.stopping, { raw: response });
      await answerMethod({ ...admission, request, response, tree, isFolderAddress, signal });
    } catch (error) {
      answerError(error, id, request, response);
    }
  }

  /** @throws {ApiError} HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED */
  function guard(request: IncomingMessage): void {
    const refusal =
      hostRefusal(request, request.url ?? '', request.socket.localPort ?? port()) ??
      originRefusal(request.headers);
    if (refusal !== undefined) throw refusal;
  }

  /** @throws {ApiError} RATE_LIMIT_EXCEEDED */
  async function takeTurn({ socket }: IncomingMessage): Promise<void> {
    const client = parts.clients.of(socket, socket.remoteAddress);
    const quota = await parts.rateLimits.takeForClient(client);
    if (!quota.accepted) throw tooMany('requests', quota);
  }

  /** @throws {ApiError} for every request that is not admitted */
  async function letIn(request: IncomingMessage): Promise<{
    readonly admission: Admission;
    readonly isFolderAddress: boolean;
  }> {
    guard(request);
    const path = readWebdavTarget(request.url ?? '');
    const isOn = access.since !== undefined;
    const admission = path === undefined || !isOn ? undefined : admit(request, path.names, access);
    if (path === undefined || admission === undefined) {
      // Only requests without the secret count against the limit, so that wrong ones cannot lock out its owner.
      await takeTurn(request);
      if (!isOn) throw turnedOff();
      throw path === undefined ? badPath() : notAdmitted();
    }
    parts.clients.vouchFor(request.socket);
    if (parts.stopping.aborted) {
      throw new ApiError('SHUTTING_DOWN', 'The agent is stopping', {
        hint: 'Try again once it is running.',
        headers: { connection: 'close' },
      });
    }
    return { admission, isFolderAddress: path.endsInSlash };
  }

  function answerError(error: unknown, id: string, request: IncomingMessage, response: ServerResponse): void {
    const { logger, redact } = parts;
    const shown = toApiError(error);
    // Otherwise the client has gone or the server is closing, and nobody waits for a response.
    const isFailure = errnoOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE' && !isAbort(error);
    if (isFailure && shown.code === 'INTERNAL_ERROR')
      logger?.error({ err: shown.cause, request_id: id }, 'A request failed');
    if (response.headersSent) {
      if (isFailure)
        logger?.warn({ err: error, request_id: id }, 'Part of a snapshot was not sent completely');
      response.destroy();
      return;
    }
    sendText(request, response, shown.statusCode, `${redact(shown.message)}\n`, shown.headers);
  }
}

function badPath(): ApiError {
  return new ApiError('INVALID_REQUEST', 'The path of the request is not valid', {
    hint: 'Encode names with percent signs, byte by byte.',
  });
}

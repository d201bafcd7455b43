/** The Partner API: everything it is made of, put together. */
import type { Server } from 'node:http';
import { fastify, LogController, type FastifyBaseLogger } from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { ApiError } from '../../api/api-error.ts';
import { createHttpServer } from '../../api/connections.ts';
import { createCursors } from '../../api/cursor.ts';
import { answerRaw, malformedRequest } from '../../api/malformed-requests.ts';
import { quotaHeaders } from '../../api/rate-limits.ts';
import { requestIdOf } from '../../api/request-id.ts';
import type { ApiApp } from '../../api/route.ts';
import { createRouteTable, isRoutable, pathOf, type RouteTable } from '../../api/route-table.ts';
import type { Clock } from '../../base/clock.ts';
import { accountRoutes } from '../resources/account.ts';
import { customerRoutes } from '../resources/customers.ts';
import { documentRoutes } from '../resources/documents.ts';
import { eventRoutes } from '../resources/events.ts';
import { planRoutes } from '../resources/plans.ts';
import { usageRoutes } from '../resources/usage.ts';
import type { PartnerStores } from '../store/store.ts';
import { createAddressLog } from './address-log.ts';
import { installHooks } from './hooks.ts';
import { PARTNER_LIMITS, type PartnerLimits } from './limits.ts';

export const PARTNER_PREFIX = '/api/partner/v1';

export interface PartnerAppOptions {
  readonly stores: PartnerStores;
  readonly clock: Clock;
  /** 32 bytes that all instances have in common, so that cursors of one are valid in the others. */
  readonly cursorKey: Uint8Array;
  readonly limits?: Partial<PartnerLimits>;
  /** Told of unforeseen failures. */
  readonly logger?: FastifyBaseLogger;
}

export interface PartnerApp {
  /** For requests without a connection. Its routes are complete: none can be added. */
  readonly app: ApiApp;
  readonly routes: RouteTable;
  /** To listen with; its caller closes it before `close`. */
  readonly server: Server;
  /** New requests are refused from now on. */
  stop(): void;
  close(): Promise<void>;
}

/** Taken by no route, ever: what the router is shown in place of a path that it cannot take apart. */
const NO_PATH = '/.not-a-path';

export async function createPartnerApp(options: PartnerAppOptions): Promise<PartnerApp> {
  const { stores, clock, cursorKey } = options;
  const limits: PartnerLimits = { ...PARTNER_LIMITS, ...options.limits };
  const table = createRouteTable();
  const stopping = new AbortController();
  const { requests, windowMs } = limits.anonymous;
  const addresses = createAddressLog(requests, windowMs, clock);
  const app = createApp(options, limits);
  app.decorate('cursors', createCursors(cursorKey));
  installHooks(app, { clock, limits, stores, addresses, table, stopping: stopping.signal });
  void app.register(
    async (scoped) => {
      accountRoutes(scoped, { stores, clock, limits });
      customerRoutes(scoped, stores);
      planRoutes(scoped, stores);
      usageRoutes(scoped, stores, clock);
      eventRoutes(scoped, stores);
      documentRoutes(scoped);
    },
    { prefix: PARTNER_PREFIX },
  );
  await app.ready();

  const refuse = (socket: Parameters<typeof answerRaw>[0], error: ApiError): void => {
    const address = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
    const quota = { ...addresses.tryAccept(address), limit: requests, windowMs };
    answerRaw(socket, error, quotaHeaders(quota), clock.now());
  };
  const server = createHttpServer(limits, new WeakSet(), {
    handle: (request, response) => app.routing(request, response),
    malformed: (error, socket) => refuse(socket, malformedRequest(error)),
    tunnel: (_request, socket) => refuse(socket, noProxy()),
  });
  return { app, routes: table, server, stop: () => stopping.abort(), close: async () => await app.close() };
}

function createApp({ clock, logger }: PartnerAppOptions, limits: PartnerLimits): ApiApp {
  return fastify({
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (log) => log,
    bodyLimit: limits.bodyBytes,
    routerOptions: { maxParamLength: limits.headerBytes },
    genReqId: (request) => requestIdOf(request.headers['x-request-id'], clock.now()),
    rewriteUrl: ({ url = '/' }) => (url.startsWith('/') && isRoutable(pathOf(url)) ? url : NO_PATH),
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
}

function noProxy(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', 'The service is no proxy', {
    hint: 'Ask it for its own routes.',
    headers: { allow: 'DELETE, GET, HEAD, PATCH, POST' },
  });
}

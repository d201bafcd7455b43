/** Creates the HTTP server of the Partner API and the console, from all routes and hooks. */
import type { Server } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { ApiApp, MetricsText } from '../../api/framework/route.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import { createConnectionShares } from '../../api/connections/shares.ts';
import { createHttpServer } from '../../api/connections/http-server.ts';
import { createCursors } from '../../api/wire/cursor.ts';
import { createFramework } from '../../api/framework/framework.ts';
import { answerRaw, malformedRequest } from '../../api/connections/malformed-requests.ts';
import { quotaHeaders } from '../../api/access/rate-limits.ts';
import { createRouteTable, type RouteTable } from '../../api/framework/route-table.ts';
import type { Clock } from '../../base/clock.ts';
import { consoleRoutes } from '../console/pages.ts';
import { CONSOLE_PREFIX } from '../console/routes.ts';
import type { PartnerKeys } from '../secrets/keys.ts';
import { accountRoutes } from '../resources/account.ts';
import { agentRoutes } from '../resources/agents.ts';
import { customerRoutes } from '../resources/customers.ts';
import { deliveryRoutes } from '../resources/deliveries.ts';
import { deviceRoutes } from '../resources/devices.ts';
import { documentRoutes } from '../resources/documents.ts';
import { eventRoutes } from '../resources/events.ts';
import { planRoutes } from '../resources/plans.ts';
import { customerUsageRoutes, usageRoutes } from '../resources/usage.ts';
import { webhookRoutes } from '../resources/webhooks.ts';
import type { PartnerStores } from '../store/store.ts';
import type { TestTarget } from '../webhooks/test-targets.ts';
import { createAddressLog, createCallerLog } from './caller-log.ts';
import { installHooks } from './hooks.ts';
import { isAmong, networkOf } from '../request/network.ts';
import { PARTNER_LIMITS, type PartnerLimits } from '../request/limits.ts';
import { PARTNER_PREFIX } from '../resources/values.ts';
import { ownDocuments } from './own-documents.ts';

export interface PartnerAppOptions {
  readonly stores: PartnerStores;
  readonly clock: Clock;
  readonly keys: PartnerKeys;
  /** Version of the program. */
  readonly version: string;
  readonly limits?: Partial<PartnerLimits>;
  /** Test receivers, to which webhooks may be sent even at private addresses. */
  readonly testTargets?: readonly TestTarget[];
  /** Addresses and networks of trusted balancers. */
  readonly proxies?: readonly string[];
  /** Receives unforeseen failures. */
  readonly logger?: FastifyBaseLogger | undefined;
  readonly metrics?: (() => Promise<MetricsText>) | undefined;
  /** Base URL at which partners reach the service; null for the address that it listens on. */
  readonly publicUrl?: string | null;
  /** Where it listens; undefined before it does. */
  readonly address?: () => string | undefined;
}

export interface PartnerApp {
  /** Answers requests without a network connection, such as injected ones. All routes are registered: none can be added. */
  readonly app: ApiApp;
  readonly routes: RouteTable;
  /** The server for the caller to listen with. The caller must close it before calling `close`. */
  readonly server: Server;
  /** Makes the service refuse new requests. */
  stop(): void;
  close(): Promise<void>;
}

export async function createPartnerApp(options: PartnerAppOptions): Promise<PartnerApp> {
  const { stores, clock, keys, version, testTargets = [] } = options;
  const limits: PartnerLimits = { ...PARTNER_LIMITS, ...options.limits };
  const table = createRouteTable();
  const stopping = new AbortController();
  const { requests, windowMs } = limits.anonymous;
  const addresses = createAddressLog(requests, windowMs, clock);
  const devices = createCallerLog(limits.device.requests, limits.device.windowMs, clock);
  const app = createFramework({ clock, limits, table, proxies: options.proxies, logger: options.logger });
  app.decorate('cursors', createCursors(keys.cursors));
  installHooks(app, { clock, limits, stores, addresses, devices, table, stopping: stopping.signal });
  const { publicUrl = null } = options;
  const { metrics, address } = options;
  ownDocuments(app, { stores, version, baseUrl: () => publicUrl ?? address?.(), metrics });
  void app.register(
    async (scoped) => {
      accountRoutes(scoped, { stores, clock, limits });
      customerRoutes(scoped, stores);
      deviceRoutes(scoped, stores);
      planRoutes(scoped, stores);
      usageRoutes(scoped, stores, clock);
      customerUsageRoutes(scoped, stores, clock);
      eventRoutes(scoped, stores);
      agentRoutes(scoped, { stores, clock, signing: keys.signing });
      webhookRoutes(scoped, stores, { clock, sealing: keys.sealing, testTargets });
      deliveryRoutes(scoped, stores);
      documentRoutes(scoped);
    },
    { prefix: PARTNER_PREFIX },
  );
  void app.register(
    async (scoped) => consoleRoutes(scoped, { stores, clock, keys, limits, publicUrl, testTargets }),
    { prefix: CONSOLE_PREFIX },
  );
  await app.ready();

  const refuse = (socket: Parameters<typeof answerRaw>[0], error: ApiError): void => {
    const address = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
    const quota = { ...addresses.tryAccept(address), limit: requests, windowMs };
    answerRaw(socket, error, quotaHeaders(quota), clock.now());
  };
  const { proxies = [] } = options;
  const shares = createConnectionShares({
    most: limits.maxConnections,
    ownersOf: async (sockets) =>
      await Promise.resolve(sockets.map(({ remoteAddress = '' }) => ownerOf(remoteAddress, proxies))),
    // Connections from a proxy are closed last, because they carry the requests of all other clients.
    isKnown: (owner) => owner === PROXY,
    clock,
    logger: options.logger,
  });
  const server = createHttpServer(limits, new WeakSet(), shares, {
    handle: (request, response) => app.routing(request, response),
    malformed: (error, socket) => refuse(socket, malformedRequest(error)),
    tunnel: (_request, socket) => refuse(socket, noProxy()),
  });
  return { app, routes: table, server, stop: () => stopping.abort(), close: async () => await app.close() };
}

/** The owner of connections from a proxy. No network has this name. */
const PROXY = 'a proxy of the settings';

function ownerOf(address: string, proxies: readonly string[]): string {
  return isAmong(address, proxies) ? PROXY : networkOf(address);
}

function noProxy(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', 'The service is not a proxy', {
    hint: 'Request its own routes.',
    headers: { allow: 'DELETE, GET, HEAD, PATCH, POST' },
  });
}

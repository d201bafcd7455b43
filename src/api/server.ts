/** The Desktop API: everything it is made of, put together. */
import type { Server } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { redactText } from '../base/redact.ts';
import type { Settings } from '../config/settings.ts';
import type { StateDatabase } from '../db/state-database.ts';
import type { Agent } from '../jobs/agent.ts';
import { agentDocuments } from './routes/agent-documents.ts';
import { ApiError } from './wire/api-error.ts';
import { authRoutes } from './routes/auth-routes.ts';
import { backupRoutes } from './routes/backup-routes.ts';
import { clientAt, createClients, type Clients } from './access/clients.ts';
import { createConnectionShares } from './connections/shares.ts';
import { type ConnectionEvents, createHttpServer, type PatientResponses } from './connections/http-server.ts';
import { createCredentials, type Credentials } from './access/credentials.ts';
import { createCursors } from './wire/cursor.ts';
import { eventRoutes } from './routes/event-routes.ts';
import { filesRoutes } from './routes/files-routes.ts';
import { createFramework } from './framework/framework.ts';
import { hostRefusal } from './access/host-guard.ts';
import {
  type ApiLimits,
  DEFAULT_LIMITS,
  HOUR_MS,
  type PartnerPlan,
  type RequestLimit,
} from './wire/limits.ts';
import { endServer, listenOnLoopback, type Listening } from './connections/listening.ts';
import { answerRaw, malformedRequest } from './connections/malformed-requests.ts';
import { operationRoutes } from './routes/operation-routes.ts';
import type { MetricsText } from './wire/metrics-text.ts';
import { insightRoutes, type PageInsight } from './page/insight-routes.ts';
import { type PageSettings, settingsArea } from './page/settings-area.ts';
import { webdavRoutes } from './page/webdav-routes.ts';
import { pageDocuments, pageRoutes } from './page/page-routes.ts';
import type { ProtectParts } from './page/protect-parts.ts';
import { protectRoutes } from './page/protect-routes.ts';
import { createPageSessions, type PageSessions } from './access/page-sessions.ts';
import { installHooks } from './framework/plugin-order.ts';
import { createRateLimits, quotaHeaders, type RateLimits } from './access/rate-limits.ts';
import type { ResourceParts, SettingsFile } from './routes/resource-parts.ts';
import { restoreRoutes } from './routes/restore-routes.ts';
import { type ApiApp, PAGE_PREFIX, PREFIXES } from './framework/route.ts';
import { createRouteTable, type RouteTable } from './framework/route-table.ts';
import { settingsRoutes } from './routes/settings-routes.ts';
import { snapshotRoutes } from './routes/snapshot-routes.ts';
import { statusRoutes } from './routes/status-routes.ts';
import { openApiKeys } from './access/token-key.ts';
import { createTokens } from './access/tokens.ts';
import { createWebdav, type Webdav } from './webdav/webdav.ts';

export interface ApiServerOptions {
  readonly agent: Agent;
  readonly state: Pick<StateDatabase, 'credentials' | 'rateLog' | 'idempotency' | 'settings'>;
  readonly clock: Clock;
  /** As they are at the moment. */
  readonly settings: () => Settings;
  /** Of a partner that the device is enrolled with; undefined for the one in the settings. */
  readonly partnerPlan?: () => PartnerPlan | undefined;
  /** What they come from; absent where they cannot be changed by requests. */
  readonly settingsFile?: SettingsFile | undefined;
  /** What only the page asks for: choosing what to protect, and where to. */
  readonly pageProtect?: ProtectParts | undefined;
  readonly stateDirectory: string;
  /** Directories of this machine that backups are stored in, now. */
  readonly stores: () => readonly string[];
  /** Of the program. */
  readonly version: string;
  readonly limits?: Partial<ApiLimits>;
  /** Told of unforeseen failures. */
  readonly logger?: FastifyBaseLogger;
  readonly metrics?: () => Promise<MetricsText>;
  /** For the page alone: overview, all jobs, alarms, previews of restores. */
  readonly pageInsight?: PageInsight;
  /** Takes the secrets out of what errors say. */
  readonly redact?: (text: string) => string;
  /** What the page's settings need beside all that. */
  readonly pageSettings?: PageSettings;
}

export interface ApiServer {
  /** For requests without a connection. Its routes are complete: none can be added. */
  readonly app: ApiApp;
  readonly credentials: Credentials;
  /** Of the product's own page. */
  readonly sessions: PageSessions;
  /** Snapshots as a folder. */
  readonly webdav: Webdav;
  readonly routes: RouteTable;
  /**
   * Listens on 127.0.0.1 and ::1; port 0 for any that is free.
   * @throws {StateError} PORT_TAKEN, PORT_NOT_ALLOWED
   */
  listen(port: number): Promise<Listening>;
  /** Takes no more requests, ends streams, and waits up to `graceMs` for the requests that are being answered. */
  close(graceMs?: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const RESOURCES: readonly ((app: ApiApp, parts: ResourceParts) => void)[] = [
  backupRoutes,
  restoreRoutes,
  filesRoutes,
  snapshotRoutes,
  eventRoutes,
  operationRoutes,
  settingsRoutes,
];

const GRACE_MS = 5_000;

/** @throws {StateError} when the state directory or its key are not private, or the key is damaged */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { agent, state, clock, settings, settingsFile, stateDirectory, stores, version } = options;
  const limits: ApiLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { plan, ofPlan } = planInForce(options, limits);
  const keys = await openApiKeys(stateDirectory);
  const credentials = createCredentials(state.credentials, keys.secrets, clock);
  const tokens = createTokens(keys.tokens, limits.tokenSeconds, clock);
  const rateLimits = createRateLimits(state.rateLog, limits, ofPlan, clock);
  const clients = createClients();
  const table = createRouteTable();
  const sessions = createPageSessions(clock);
  const patient: PatientResponses = new WeakSet();
  const stopping = new AbortController();
  let listening: Listening | undefined;
  const port = (): number | undefined => listening?.port;
  const redact = options.redact ?? redactText;
  const asked = { clock, rateLimits, clients, patient, stopping: stopping.signal, redact, port };
  const webdav = createWebdav({
    ...asked,
    agent,
    settings,
    store: state.settings,
    key: keys.webdav,
    logger: options.logger,
  });

  const app = createFramework({ clock, limits, table, logger: options.logger });
  app.decorate('cursors', createCursors(keys.cursors));
  installHooks(app, { ...asked, tokens, credentials, sessions, idempotency: state.idempotency, table });
  agentDocuments(app, { version, port, metrics: options.metrics });
  const { pageProtect, pageInsight, pageSettings } = options;
  const resources = { agent, clock, settings, settingsFile, stateDirectory, stores };
  for (const prefix of PREFIXES) {
    void app.register(
      async (scoped) => {
        authRoutes(scoped, { credentials, tokens, rateLimits });
        statusRoutes(scoped, { agent, clock, plan });
        for (const routes of RESOURCES) routes(scoped, resources);
      },
      { prefix },
    );
  }
  pageDocuments(app);
  void app.register(
    async (scoped) => {
      const parts = {
        ...resources,
        agent: forPage(agent),
        isFreshSecret: pageProtect?.isFreshSecret,
      };
      if (pageProtect !== undefined) protectRoutes(scoped, pageProtect, parts);
      pageRoutes(scoped, { sessions, rateLimits, clients, port });
      if (pageInsight !== undefined) insightRoutes(scoped, parts, pageInsight);
      webdavRoutes(scoped, webdav);
      statusRoutes(scoped, { agent, clock, plan });
      for (const routes of RESOURCES) routes(scoped, parts);
      if (pageSettings !== undefined) settingsArea(scoped, { ...parts, ...pageSettings, credentials, plan });
    },
    { prefix: PAGE_PREFIX },
  );
  await app.ready();

  const events = connectionEvents({ app, webdav, rateLimits, clock, port });
  const [four, six] = httpServers({ limits, clients, clock, logger: options.logger, patient, events });

  const close = async (graceMs = GRACE_MS): Promise<void> => {
    stopping.abort();
    // Ends the streams, so that the servers do not wait for them.
    const closed = app.close();
    await Promise.all([endServer(four, graceMs), endServer(six, graceMs)]);
    await closed;
  };
  return {
    app,
    credentials,
    sessions,
    webdav,
    routes: table,
    async listen(port) {
      listening = await listenOnLoopback(four, six, port);
      return listening;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** By the partner, where there is one, else by the settings. */
function planInForce({ settings, partnerPlan: ask }: ApiServerOptions, limits: ApiLimits) {
  const partnerPlan = (): PartnerPlan | undefined => ask?.();
  const plan = (): Settings['plan'] => partnerPlan()?.slug ?? settings().plan;
  const ofPlan = (): RequestLimit => {
    const requests = partnerPlan()?.requestsPerHour;
    return requests === undefined ? limits.plans[settings().plan] : { requests, windowMs: HOUR_MS };
  };
  return { plan, ofPlan };
}

interface ServerParts {
  readonly limits: ApiLimits;
  readonly clients: Clients;
  readonly clock: Clock;
  readonly logger: ApiServerOptions['logger'];
  readonly patient: PatientResponses;
  readonly events: ConnectionEvents;
}

/** For IPv4 and IPv6, with one limit of connections for both. */
function httpServers({
  limits,
  clients,
  clock,
  logger,
  patient,
  events,
}: ServerParts): readonly [Server, Server] {
  const shares = createConnectionShares({
    most: limits.maxConnections,
    ownersOf: async (sockets) => await clients.ownersOf(sockets),
    isKnown: (owner) => clients.isKnown(owner),
    clock,
    logger,
  });
  return [
    createHttpServer(limits, patient, shares, events),
    createHttpServer(limits, patient, shares, events),
  ];
}

interface EventParts {
  readonly app: ApiApp;
  readonly webdav: Webdav;
  readonly rateLimits: RateLimits;
  readonly clock: Clock;
  readonly port: () => number | undefined;
}

/** What comes over a connection, whether or not it is a request. */
function connectionEvents({ app, webdav, rateLimits, clock, port }: EventParts): ConnectionEvents {
  // At once: who is refused may close the connection at any moment.
  const refuse = (socket: Parameters<typeof answerRaw>[0], error: ApiError): void => {
    const address = 'remoteAddress' in socket ? String(socket.remoteAddress) : undefined;
    const quota = rateLimits.lookForClient(clientAt(address));
    answerRaw(socket, error, quotaHeaders(quota), clock.now());
  };
  return {
    handle: (request, response) =>
      webdav.isAsked(request) ? webdav.handle(request, response) : app.routing(request, response),
    malformed: (error, socket) => refuse(socket, malformedRequest(error)),
    tunnel: (request, socket) => refuse(socket, tunnelRefusal(request, port())),
  };
}

/** What is asked for by the page says so. */
function forPage(agent: Agent): Agent {
  return {
    ...agent,
    requestBackup: async (request) => await agent.requestBackup(request, 'ui'),
    submit: async (spec) => await agent.submit(spec, 'ui'),
  };
}

function tunnelRefusal(
  request: Parameters<ConnectionEvents['tunnel']>[0],
  port: number | undefined,
): ApiError {
  return (
    hostRefusal(request, '*', request.socket.localPort ?? port) ??
    new ApiError('METHOD_NOT_ALLOWED', 'The agent is no proxy', {
      hint: 'Ask it for its own routes.',
      headers: { allow: 'GET, HEAD, POST' },
    })
  );
}

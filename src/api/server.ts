/** The Desktop API: creates its parts, registers its routes and runs its HTTP servers. */
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
import { clientAt, type Clients, createClients } from './access/clients.ts';
import { createConnectionShares } from './connections/shares.ts';
import { type ConnectionEvents, createHttpServer, type PatientResponses } from './connections/http-server.ts';
import { createCredentials, type Credentials } from './access/credentials.ts';
import { createCursors } from './wire/cursor.ts';
import { eventRoutes } from './routes/event-routes.ts';
import { filesRoutes } from './routes/files-routes.ts';
import { createFramework } from './framework/framework.ts';
import { hostRefusal } from './access/foreign-pages.ts';
import {
  type ApiLimits,
  DEFAULT_LIMITS,
  HOUR_MS,
  type PartnerPlan,
  type RequestLimit,
} from './wire/limits.ts';
import { endServer, type Listening, listenOnLoopback } from './connections/listening.ts';
import { answerRaw, malformedRequest } from './connections/malformed-requests.ts';
import { operationRoutes } from './routes/operation-routes.ts';
import { type ApiApp, type MetricsText, PAGE_PREFIX, PREFIXES } from './framework/route.ts';
import { insightRoutes, type PageInsight } from './page/insight-routes.ts';
import { type PageSettings, settingsArea, webdavRoutes } from './page/settings-area.ts';
import { pageDocuments, pageRoutes } from './page/page-routes.ts';
import type { ProtectParts } from './page/protect-parts.ts';
import { protectRoutes } from './page/protect-routes.ts';
import { createPageSessions, type PageSessions } from './access/page-sessions.ts';
import { installHooks } from './framework/plugin-order.ts';
import { createRateLimits, quotaHeaders, type RateLimits } from './access/rate-limits.ts';
import type { ResourceParts, SettingsFile } from './routes/resource-parts.ts';
import { restoreRoutes } from './routes/restore-routes.ts';
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
  /** Returns the settings currently in force. */
  readonly settings: () => Settings;
  /** Returns the plan of the partner that the device is enrolled with; undefined when the plan in the settings applies. */
  readonly partnerPlan?: () => PartnerPlan | undefined;
  /** The configuration file behind the settings; absent where requests cannot change the settings. */
  readonly settingsFile?: SettingsFile | undefined;
  /** For the page alone: choosing what to protect, and where to store it. */
  readonly pageProtect?: ProtectParts | undefined;
  readonly stateDirectory: string;
  /** Returns the local directories that backups are currently stored in. */
  readonly stores: () => readonly string[];
  /** Version of the program. */
  readonly version: string;
  readonly limits?: Partial<ApiLimits>;
  /** Receives unforeseen failures. */
  readonly logger?: FastifyBaseLogger;
  readonly metrics?: () => Promise<MetricsText>;
  /** For the page alone: overview, all jobs, alarms, previews of restores. */
  readonly pageInsight?: PageInsight;
  /** Removes secrets from the text of errors. */
  readonly redact?: (text: string) => string;
  /** What the settings area of the page needs in addition. */
  readonly pageSettings?: PageSettings;
}

export interface ApiServer {
  /** Answers requests without a network connection, such as injected ones. All routes are registered: none can be added. */
  readonly app: ApiApp;
  readonly credentials: Credentials;
  /** Sessions of the product's own page. */
  readonly sessions: PageSessions;
  /** Serves snapshots as a folder over WebDAV. */
  readonly webdav: Webdav;
  readonly routes: RouteTable;
  /**
   * Listens on 127.0.0.1 and ::1. Port 0 picks any port that is free on both.
   * @throws {StateError} PORT_TAKEN, PORT_NOT_ALLOWED, LISTEN_FAILED
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

/** @throws {StateError} when the state directory or its key file is not private, or the key file is damaged */
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
    // Closing the app ends the streams; otherwise the servers would wait for them.
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

/** The plan and its request limit: those of the partner if there is one, otherwise those of the settings. */
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

/** Two servers, for IPv4 and IPv6, that share one limit on connections. */
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

/** Handles everything that arrives over a connection, including what is not a valid HTTP request. */
function connectionEvents({ app, webdav, rateLimits, clock, port }: EventParts): ConnectionEvents {
  // Synchronous, because a client that is refused may close the connection at any moment.
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

/** Marks the jobs that the page requests with the trigger `ui`. */
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
    new ApiError('METHOD_NOT_ALLOWED', 'The agent is not a proxy', {
      hint: 'Request its own routes.',
      headers: { allow: 'GET, HEAD, POST' },
    })
  );
}

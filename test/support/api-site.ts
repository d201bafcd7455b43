/** The Desktop API on real sockets, with a state directory of its own and an agent that has nothing to do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import type { MetricsText } from '../../src/api/framework/route.ts';
import type { ProtectParts } from '../../src/api/page/protect-parts.ts';
import { localDirectory } from '../../src/api/routes/named-destination.ts';
import type { ApiLimits } from '../../src/api/wire/limits.ts';
import { createApiServer, type ApiServer } from '../../src/api/server.ts';
import type { NewCredential } from '../../src/api/access/credentials.ts';
import { RequestError } from '../../src/base/errors.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Settings } from '../../src/config/settings.ts';
import { openStateDatabase, type StateDatabase } from '../../src/db/state-database.ts';
import { statement } from '../../src/jobs/statement.ts';
import type { Agent, PublicStatus } from '../../src/jobs/agent.ts';
import { type Job, NO_PROGRESS } from '../../src/jobs/job.ts';
import type { PageInsight } from '../../src/api/page/insight-routes.ts';
import { manualClock, type ManualClock } from './manual-clock.ts';
import { judge } from './openapi-judge.ts';
import { testInsight } from './page-insight.ts';
import { testPageSettings } from './page-settings.ts';
import { testProtectParts } from './protect-parts.ts';
import { testSettingsFile } from './settings-file.ts';
import type { SettingsFile } from '../../src/api/routes/resource-parts.ts';

export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Of a JSON body. */
  readonly json: ReplyBody;
}

export interface ReplyBody {
  readonly success?: boolean;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details: Record<string, unknown>;
  };
  readonly meta?: { readonly request_id: string; readonly timestamp: string };
}

export interface CallOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Anything but text is sent as JSON. */
  readonly body?: unknown;
  readonly token?: string | undefined;
}

export interface ApiSite {
  readonly server: ApiServer;
  readonly state: StateDatabase;
  readonly clock: ManualClock;
  readonly directory: string;
  readonly port: number;
  readonly host: string;
  /** To be changed by tests. */
  settings: Settings;
  readonly agent: TestAgent;
  /** Over a connection of its own. The reply is held against docs/api/desktop.yaml, here and in `inject`. */
  call(target: string, options?: CallOptions): Promise<ApiReply>;
  /** Without a connection: for many. */
  inject(target: string, options?: CallOptions): Promise<ApiReply>;
  /** Writes bytes to a connection and gives what comes back until it is closed. */
  raw(bytes: string | Uint8Array): Promise<string>;
  credential(): NewCredential;
  token(credential?: NewCredential): Promise<string>;
  /** Ends the server and opens another one on the same state. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SiteOptions {
  readonly limits?: Partial<ApiLimits>;
  readonly plan?: Settings['plan'];
  readonly logger?: FastifyBaseLogger;
  readonly agent?: Partial<Agent>;
  /** Instead of config.json in the state directory. */
  readonly settingsFile?: SettingsFile;
  /** What the page has of the agent, where a test does not say so itself. */
  readonly pageProtect?: Partial<ProtectParts>;
  readonly metrics?: () => Promise<MetricsText>;
  /** What the page shows beyond the agent. */
  readonly insight?: Partial<PageInsight>;
}

export async function openApiSite(options: SiteOptions = {}): Promise<ApiSite> {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-api-'));
  const clock = manualClock();
  const agent = testAgent(clock, options.agent);
  let settings = testSettings(options.plan ?? 'business');
  let running = await start();

  async function start() {
    const state = openStateDatabase(path.join(directory, 'state.db'), clock);
    const server = await createApiServer({
      agent,
      state,
      clock,
      settings: () => settings,
      settingsFile: options.settingsFile ?? testSettingsFile(directory),
      pageProtect: { ...testProtectParts(), ...options.pageProtect },
      stateDirectory: directory,
      stores: () => settings.destinations.flatMap(({ url }) => localDirectory(url) ?? []),
      version: '9.8.7',
      pageInsight: testInsight(agent, options.insight),
      pageSettings: testPageSettings(),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.logger === undefined ? {} : { logger: options.logger }),
      ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
    });
    const { port } = await server.listen(0);
    return { state, server, port };
  }

  async function stop(): Promise<void> {
    await running.server.close(1_000);
    running.state.close();
  }

  const site: ApiSite = {
    get server() {
      return running.server;
    },
    get state() {
      return running.state;
    },
    get port() {
      return running.port;
    },
    get host() {
      return `127.0.0.1:${running.port}`;
    },
    get settings() {
      return settings;
    },
    set settings(next) {
      settings = next;
    },
    clock,
    directory,
    agent,
    async call(target, call = {}) {
      return judged(call.method, target, await callOver(running.port, target, call));
    },
    async inject(target, { method = 'GET', headers = {}, body, token } = {}) {
      const reply = await running.server.app.inject({
        method: method as 'GET',
        url: target,
        headers: { host: site.host, ...jsonHeaders(body, token), ...headers } as Record<string, string>,
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const { statusCode, headers: shown, body: text } = reply;
      return judged(method, target, toReply(statusCode, shown as ApiReply['headers'], text));
    },
    raw: async (bytes) => await rawExchange(running.port, bytes),
    credential: () => running.server.credentials.create('test'),
    async token(credential = running.server.credentials.create('test')) {
      const { api_key, secret } = credential;
      const reply = await site.inject('/v1/auth/token', { method: 'POST', body: { api_key, secret } });
      return String(reply.json.data?.['access_token']);
    },
    async restart() {
      await stop();
      running = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return site;
}

function jsonHeaders(body: unknown, token: string | undefined): OutgoingHttpHeaders {
  return {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

/** Every reply has to be one that the document describes. The routes of the product's own page are in no document. */
function judged(method = 'GET', target: string, reply: ApiReply): ApiReply {
  const ofPage =
    reply.status === 200 &&
    /^\/(?:(?:assets|docs)\/[\w.-]+|app-icon[\w.-]*|manifest\.webmanifest)?(?:\?|$)/.test(target);
  if (!ofPage && !target.startsWith('/internal/')) judge(method, target, reply);
  return reply;
}

async function callOver(port: number, target: string, options: CallOptions): Promise<ApiReply> {
  const { method = 'GET', headers = {}, body, token } = options;
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path: target,
    method,
    headers: { ...jsonHeaders(body, token), ...headers },
    agent: false,
  });
  request.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return toReply(response.statusCode, response.headers, Buffer.concat(chunks).toString());
}

function toReply(status: number, headers: ApiReply['headers'], text: string): ApiReply {
  return {
    status,
    headers,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}

/** Bytes to a port of this machine, and all that comes back. */
export async function rawExchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A connection that is reset has been answered before, or not at all: the text tells.
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

export interface TestAgent extends Agent {
  /** In the order they were asked for. */
  readonly requested: readonly Job[];
}

/** Queues what it is asked for, and never runs it. */
export function testAgent(clock: Clock, more: Partial<Agent> = {}): TestAgent {
  const requested: Job[] = [];
  const nothing = async (): Promise<never> => {
    throw new RequestError('SNAPSHOT_NOT_FOUND', 'There is no snapshot');
  };
  const status: PublicStatus = {
    status: 'ok',
    version: '9.8.7',
    uptime_seconds: 7,
    jobs: { running: 0, queued: 0 },
    last_backup: { status: 'completed', finished_at: 1_600_000_000_000 },
    next_run_at: null,
    headline: { code: 'protected', level: 'good', severity: 10, more: 0 },
    checks: [{ name: 'database', status: 'ok', message: 'The database answers' }],
  };
  return {
    requested,
    async requestBackup({ source, destination = 'default', options }, trigger) {
      const number = String(requested.length).padStart(26, '0');
      const job = backupJob(`bkp_${number}`, source, destination, clock.now());
      requested.push({ ...job, trigger, spec: { ...job.spec, ...options } });
      return job;
    },
    destinationOf: () => {
      throw new RequestError('INVALID_DESTINATION', 'There is no destination');
    },
    submit: nothing,
    newestOf: nothing,
    snapshotOfBackup: nothing,
    pathIn: (_, path) => path,
    job: (id) => requested.find((job) => job.id === id),
    jobs: ({ limit, status: wanted }) =>
      requested
        .filter(({ status: found }) => wanted === undefined || found === wanted)
        .toReversed()
        .slice(0, limit),
    waitFor: async (id) => requested.find((job) => job.id === id) ?? (await nothing()),
    cancel: nothing,
    log: () => [],
    pause: async () => undefined,
    resume: async () => undefined,
    async *events(_after, _jobId, signal) {
      yield* [];
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve, { once: true });
      });
    },
    publicStatus: () => status,
    fullStatus: async () => ({
      ...status,
      statements: [statement('protected', { paths: ['/home/ana'], names: ['~'], since: 1_600_000_000_000 })],
      sources: [
        {
          path: '/home/ana',
          destination: 'default',
          schedule: 'hourly',
          last_good_backup_at: 1_600_000_000_000,
          next_run_at: null,
          overdue: false,
          watching: true,
        },
      ],
      destinations: [
        {
          name: 'default',
          url: 'file:///backups',
          reachable: true,
          reached_at: null,
          unreachable_reason: null,
          untested: false,
          embedded: false,
          used_bytes: 5,
          same_disk: false,
        },
      ],
      storage: { used_bytes: 5, free_bytes: null },
      notices: { held: 2, held_until: '07:00' },
      watcher: { status: 'watching', directories: 3 },
      config: { status: 'ok', file: '/etc/holdfast.json', error: null },
    }),
    snapshots: async () => [],
    snapshot: nothing,
    forgetSnapshot: nothing,
    files: async () => ({ items: [], unreadable: 0, next: null }),
    entry: nothing,
    versions: async () => [],
    diff: nothing,
    content: nothing,
    archive: nothing,
    ...more,
  };
}

function backupJob(id: string, source: string, destination: string, now: number): Job {
  const options = {
    compression: 'zstd',
    encryption: true,
    deduplication: true,
    exclude: [],
    tags: [],
    dry_run: false,
  };
  return {
    id,
    type: 'backup',
    status: 'queued',
    phase: null,
    result: null,
    spec: { type: 'backup', source, destination, options },
    trigger: 'api',
    attempt: 1,
    waiting_for: null,
    snapshot_id: null,
    files_done: 0,
    files_skipped: 0,
    size_bytes: 0,
    duration_ms: 0,
    progress: NO_PROGRESS,
    warnings_count: 0,
    problems: [],
    error: null,
    created_at: now,
    started_at: null,
    finished_at: null,
  };
}

export function testSettings(plan: Settings['plan']): Settings {
  return {
    listen: { port: 0 },
    plan,
    timeZone: null,
    requireEncryption: false,
    defaultDestination: 'default',
    sources: [],
    destinations: [],
    embedded: { name: 'default', url: '/state/repository', passphrase: null },
    retention: {
      keepLast: null,
      keepHourly: null,
      keepDaily: null,
      keepWeekly: null,
      keepMonthly: null,
      keepYearly: null,
      keepWithin: null,
    },
    maintenance: {
      prune: 'off',
      check: 'off',
      drill: 'off',
      drillFiles: 1,
      checkReadData: 0,
      jitterSeconds: 0,
    },
    conditions: { onBattery: 'run', onMetered: 'run', quietHours: null },
    bandwidth: [],
    restore: { allowedRoots: [] },
    notices: {
      healthchecks: null,
      ntfy: null,
      webhook: null,
      email: null,
      desktop: false,
      absenceDays: 7,
      quietHours: null,
    },
    partner: { whileSuspended: 'run', afterTrial: 'wait' },
    updates: { url: null },
    log: { level: 'info' },
  };
}

/** The product's own page, and the routes that only it has. Those of the Desktop API it uses under the same prefix. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Static, Type } from '../base/schema-type.ts';
import type { Clock } from '../base/clock.ts';
import type { Agent } from '../jobs/agent.ts';
import type { Job } from '../jobs/job.ts';
import { protectionOf } from '../jobs/protection.ts';
import { ApiError } from './api-error.ts';
import { pageFiles } from './page-files.ts';
import { cookieName, sessionToken } from './page-guard.ts';
import { peerUser } from './page-peer.ts';
import type { PageSessions } from './page-sessions.ts';
import { shownDestination } from './presentation/redact.ts';
import { maybeTimestamp, timestamp } from './presentation/time.ts';
import { type RateLimits, tooMany } from './rate-limits.ts';
import type { ApiApp } from './route.ts';
import { PAGE_POLICY } from './security-headers.ts';

/** Jobs that the page shows. */
const SHOWN_JOBS = 10;

const Nothing = Type.Object({});
const CodeRequest = Type.Object({ code: Type.String({ maxLength: 256 }) }, { additionalProperties: false });
const MaybeText = Type.Union([Type.String(), Type.Null()]);

const Overview = Type.Object({
  time: Type.String(),
  version: Type.String(),
  level: Type.Enum(['good', 'warning', 'bad']),
  sentence: Type.String(),
  sources: Type.Array(
    Type.Object({
      path: Type.String(),
      destination: Type.String(),
      last_good_backup_at: MaybeText,
      next_run_at: MaybeText,
      overdue: Type.Boolean(),
    }),
  ),
  jobs: Type.Array(
    Type.Object({
      id: Type.String(),
      type: Type.String(),
      status: Type.String(),
      result: MaybeText,
      source: MaybeText,
      destination: Type.String(),
      created_at: Type.String(),
      finished_at: MaybeText,
      percent: Type.Union([Type.Number(), Type.Null()]),
      files: Type.Integer(),
      size_bytes: Type.Number(),
      warnings_count: Type.Integer(),
      error: MaybeText,
    }),
  ),
});

export interface PageParts {
  readonly agent: Pick<Agent, 'fullStatus' | 'jobs'>;
  readonly clock: Clock;
  readonly sessions: PageSessions;
  readonly rateLimits: Pick<RateLimits, 'takeForAddress'>;
  /** The port that is listened on. */
  readonly port: () => number | undefined;
}

/** The page itself: nothing in it is secret. */
export function pageDocuments(app: ApiApp): void {
  const files = pageFiles();
  if (files.length === 0) {
    app.get('/', { config: { scope: 'entry', produces: 'text/plain' } }, async (_request, reply) =>
      reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT),
    );
  }
  for (const file of files) {
    app.get(file.path, { config: { scope: 'entry', produces: file.type } }, async (request, reply) => {
      reply.type(`${file.type}; charset=utf-8`);
      reply.header('content-security-policy', PAGE_POLICY);
      reply.header('cross-origin-opener-policy', 'same-origin');
      reply.header('vary', 'accept-encoding');
      if (file.isLasting) reply.header('cache-control', 'public, max-age=31536000, immutable');
      const content = await file.read();
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return content;
      reply.header('content-encoding', 'gzip');
      return await compress(content);
    });
  }
}

const NOT_BUILT = 'The page is not built. Build it with: npm run build, then restart the agent.\n';
const compress = promisify(gzip);

/** To be registered under the prefix of the page's routes. */
export function pageRoutes(app: ApiApp, { agent, clock, sessions, rateLimits, port }: PageParts): void {
  // For the browser alone, and for requests of our own pages alone.
  const cookie = (token: string): string =>
    `${cookieName(port())}=${token}; Path=/internal/; HttpOnly; SameSite=Strict`;

  app.post(
    '/session',
    {
      config: { scope: 'entry', idempotent: false },
      schema: { body: CodeRequest, response: { 200: Nothing } },
    },
    async (request, reply) => {
      const { socket } = request.raw;
      const token = await sessions.open(request.body.code, async () => await peerUser(socket));
      if (token === undefined) {
        // Whoever has a right code gets in, however many wrong ones come from the same machine.
        const quota = rateLimits.takeForAddress(request.ip);
        throw quota.accepted ? badCode() : tooMany('requests', quota);
      }
      reply.header('set-cookie', cookie(token));
      return {};
    },
  );

  app.delete(
    '/session',
    { config: { scope: 'page' }, schema: { response: { 200: Nothing } } },
    async (request, reply) => {
      const token = sessionToken(request.raw, port());
      if (token !== undefined) sessions.end(token);
      reply.header('set-cookie', `${cookie('')}; Max-Age=0`);
      return {};
    },
  );

  app.get(
    '/overview',
    { config: { scope: 'page' }, schema: { response: { 200: Overview } } },
    async (): Promise<Static<typeof Overview>> => {
      const status = await agent.fullStatus();
      const nowMs = clock.now();
      return {
        time: timestamp(nowMs),
        version: status.version,
        ...protectionOf(status, nowMs),
        sources: status.sources.map((source) => ({
          path: source.path,
          destination: source.destination,
          last_good_backup_at: maybeTimestamp(source.last_good_backup_at),
          next_run_at: maybeTimestamp(source.next_run_at),
          overdue: source.overdue,
        })),
        jobs: agent.jobs({ limit: SHOWN_JOBS }).map(jobRow),
      };
    },
  );
}

function badCode(): ApiError {
  return new ApiError('INVALID_CREDENTIALS', 'The code was used already, or is older than a minute', {
    hint: 'Open the page with: holdfast ui',
  });
}

function jobRow(job: Job): Static<typeof Overview>['jobs'][number] {
  return {
    id: job.id,
    type: job.type,
    status: job.status,
    result: job.result,
    source: job.spec.type === 'backup' ? job.spec.source : null,
    destination: shownDestination(job.spec.destination),
    created_at: timestamp(job.created_at),
    finished_at: maybeTimestamp(job.finished_at),
    percent: job.progress.percent,
    files: job.files_done,
    size_bytes: job.size_bytes,
    warnings_count: job.warnings_count,
    error: job.error?.message ?? null,
  };
}

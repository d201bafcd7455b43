/** The routes that the jobs of every type have: list, read, cancel, events and log; and the response to a new one. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from '../../base/schema-type.ts';
import { isAbort } from '../../base/errors.ts';
import type { Noted } from '../../jobs/agent.ts';
import type { Job, JobType } from '../../jobs/job.ts';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { metaOf, successEnvelope } from '../wire/envelope.ts';
import { EVENT_STREAM, sendEvents } from './event-routes.ts';
import { jobDestination } from './named-destination.ts';
import { jobLog } from '../presentation/job.ts';
import { readOptionalTime, readSource, readWait } from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';
import { type ApiApp, ListQuery, PageOf, accepted, page, prefixOf } from '../framework/route.ts';
import { JOB_FILTERS, JobLog } from '../schemas/job.ts';
import { IdParams, PathInput } from '../schemas/values.ts';

/** Seconds that a client may ask to wait for a job. */
const LONGEST_WAIT = 60;

/** A type of job as the API knows it. */
export interface JobKind<Shown extends object> {
  readonly type: JobType;
  /** Path of its routes, without the prefix. */
  readonly path: `/${string}`;
  readonly schema: TSchema;
  readonly notFound: 'BACKUP_NOT_FOUND' | 'RESTORE_NOT_FOUND' | 'NOT_FOUND';
  /** Whether its jobs have a source, so that the list takes a `source` filter. */
  readonly bySource: boolean;
  present(job: Job, now: number): Shown;
}

interface JobQuery {
  readonly status?: Job['status'];
  readonly source?: string;
  readonly destination?: string;
  readonly created_after?: string;
  readonly created_before?: string;
}

export function jobRoutes(app: ApiApp, parts: ResourceParts, kind: JobKind<object>): void {
  const { agent, clock } = parts;
  const closing = closingSignal(app);
  const { path, type } = kind;
  const one = { params: IdParams, response: { 200: kind.schema } };
  const find = (id: string): Job => {
    const job = agent.job(id);
    if (job === undefined || job.type !== type) {
      throw new ApiError(kind.notFound, `There is no ${type} with this id`, {
        hint: `GET ${path} lists them.`,
      });
    }
    return job;
  };

  app.get(
    path,
    {
      schema: {
        querystring: ListQuery(
          kind.bySource ? { ...JOB_FILTERS, source: Type.Optional(PathInput) } : JOB_FILTERS,
        ),
        response: { 200: PageOf(kind.schema) },
      },
      config: { scope: 'api' },
    },
    async ({ query: { limit, cursor, ...rest } }) => {
      const filters: JobQuery = rest;
      const found = agent.jobs({
        types: [type],
        status: filters.status,
        // In the form to which a request for a backup resolves it.
        source: readSource(filters.source),
        destination:
          filters.destination === undefined ? undefined : jobDestination(filters.destination, type, parts),
        createdAfter: readOptionalTime('created_after', filters.created_after),
        createdBefore: readOptionalTime('created_before', filters.created_before),
        before: app.cursors.open(path, { ...filters }, cursor),
        // One job more than requested tells whether there is a next page.
        limit: limit + 1,
      });
      const last = found.length > limit ? found[limit - 1] : undefined;
      const now = clock.now();
      return page(
        found.slice(0, limit).map((job) => kind.present(job, now)),
        last === undefined ? null : app.cursors.seal(path, { ...filters }, last.id),
      );
    },
  );

  app.get(`${path}/:id`, { schema: one, config: { scope: 'api' } }, async ({ params }) =>
    kind.present(find(params.id), clock.now()),
  );

  app.post(`${path}/:id/cancel`, { schema: one, config: { scope: 'api' } }, async ({ params }) =>
    kind.present(await agent.cancel(find(params.id).id), clock.now()),
  );

  app.get(
    `${path}/:id/log`,
    {
      schema: { params: IdParams, response: { 200: JobLog } },
      config: { scope: 'api' },
    },
    async ({ params }) => {
      const job = find(params.id);
      return jobLog(job, agent.log(job.id));
    },
  );

  app.get(
    `${path}/:id/events`,
    {
      schema: { params: IdParams },
      config: { scope: 'api', ...EVENT_STREAM },
    },
    async (request, reply) => {
      const { id } = find(request.params.id);
      return await sendEvents(request, reply, { agent, clock, jobId: id }, closing);
    },
  );
}

type StartRequest = Pick<FastifyRequest, 'headers' | 'url' | 'id' | 'arrival'>;
type StartReply = Pick<FastifyReply, 'raw' | 'header' | 'statusCode'>;

export interface NewJobs<Shown extends object> {
  /**
   * Returns a callback that stores the response together with the job. A repeated request then has no second effect,
   * even if this process ends before the first one is answered.
   */
  note(request: StartRequest): Noted;
  /** The response to a job that was just queued: 202, or 200 when the client waits for it and it ends in time. */
  answer(request: StartRequest, reply: StartReply, job: Job): Promise<Shown>;
}

export function answersNewJobs<Shown extends object>(
  app: ApiApp,
  { agent, clock }: ResourceParts,
  kind: JobKind<Shown>,
): NewJobs<Shown> {
  const closing = closingSignal(app);

  async function waitFor(job: Job, seconds: number, signal: AbortSignal): Promise<Job> {
    try {
      return await agent.waitFor(job.id, seconds * 1000, signal);
    } catch (error) {
      if (!isAbort(error)) throw error;
      // The job goes on without the client, or once the agent has restarted.
      return agent.job(job.id) ?? job;
    }
  }

  return {
    note: (request) => (job) => {
      const nowMs = clock.now();
      const envelope = successEnvelope(kind.present(job, nowMs), metaOf(request.id, nowMs));
      const prefix = prefixOf(request);
      const headers = { location: `${prefix}${kind.path}/${job.id}` };
      request.arrival?.running?.note({ status: 202, headers, body: JSON.stringify(envelope) }, prefix);
    },
    async answer(request, reply, job) {
      const seconds = readWait(headerText(request.headers['prefer']), LONGEST_WAIT);
      let latest = job;
      if (seconds !== undefined) {
        reply.header('preference-applied', `wait=${seconds}`);
        latest = await waitFor(job, seconds, untilClosedOr(closing, reply));
      }
      const shown = kind.present(latest, clock.now());
      const ended = latest.status !== 'queued' && latest.status !== 'running';
      return seconds !== undefined && ended
        ? shown
        : accepted(reply, request, `${kind.path}/${job.id}`, shown);
    },
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(',') : value;
}

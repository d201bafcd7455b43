/** One list of jobs of all types, and restore drills, which can only be started from the page and the command line. */
import type { Job } from '../../jobs/job.ts';
import { ApiError } from '../wire/api-error.ts';
import { answersNewJobs, type JobKind } from '../routes/job-routes.ts';
import { readDestination } from '../routes/named-destination.ts';
import { jobLog, presentDrill, presentJob } from '../presentation/job.ts';
import { readOptionalTime } from '../routes/request-values.ts';
import type { ResourceParts } from '../routes/resource-parts.ts';
import { type ApiApp, ListQuery, page, PageOf } from '../framework/route.ts';
import { Drill, JobLog } from '../schemas/job.ts';
import { ANY_JOB_FILTERS, AnyJob, DrillRequest } from '../schemas/page/jobs.ts';
import { IdParams } from '../schemas/values.ts';

const PATH = '/jobs';
const ONE = { params: IdParams, response: { 200: AnyJob } };

const DRILL: JobKind<Drill> = {
  type: 'drill',
  path: PATH,
  schema: Drill,
  notFound: 'NOT_FOUND',
  bySource: false,
  present: presentDrill,
};

export function pageJobRoutes(app: ApiApp, parts: ResourceParts): void {
  const { agent, clock } = parts;
  const find = (id: string): Job => {
    const job = agent.job(id);
    if (job !== undefined) return job;
    throw new ApiError('NOT_FOUND', 'There is no job with this id', {
      hint: `GET ${PATH} lists the jobs.`,
    });
  };

  app.get(
    PATH,
    {
      schema: { querystring: ListQuery(ANY_JOB_FILTERS), response: { 200: PageOf(AnyJob) } },
      config: { scope: 'page' },
    },
    async ({ query: { limit, cursor, ...filters } }) => {
      const found = agent.jobs({
        types: filters.type === undefined ? undefined : [filters.type],
        status: filters.status,
        source: filters.source,
        destination: filters.destination,
        createdAfter: readOptionalTime('created_after', filters.created_after),
        createdBefore: readOptionalTime('created_before', filters.created_before),
        before: app.cursors.open(PATH, { ...filters }, cursor),
        // One job more than requested tells whether there is a next page.
        limit: limit + 1,
      });
      const last = found.length > limit ? found[limit - 1] : undefined;
      const now = clock.now();
      return page(
        found.slice(0, limit).map((job) => presentJob(job, now)),
        last === undefined ? null : app.cursors.seal(PATH, { ...filters }, last.id),
      );
    },
  );

  app.get(`${PATH}/:id`, { schema: ONE, config: { scope: 'page' } }, async ({ params }) =>
    presentJob(find(params.id), clock.now()),
  );

  app.post(`${PATH}/:id/cancel`, { schema: ONE, config: { scope: 'page' } }, async ({ params }) =>
    presentJob(await agent.cancel(find(params.id).id), clock.now()),
  );

  app.get(
    `${PATH}/:id/log`,
    { schema: { params: IdParams, response: { 200: JobLog } }, config: { scope: 'page' } },
    async ({ params }) => {
      const job = find(params.id);
      return jobLog(job, agent.log(job.id));
    },
  );

  const jobs = answersNewJobs(app, parts, DRILL);
  app.post(
    '/drill',
    {
      schema: { body: DrillRequest, response: { 200: Drill, 202: Drill } },
      config: { scope: 'page', duration: 'waits', body: 'optional' },
    },
    async (request, reply) => {
      const { destination, files } = request.body;
      const job = await agent.submit(
        {
          type: 'drill',
          destination: readDestination(destination, parts),
          files: files ?? parts.settings().maintenance.drillFiles,
        },
        'ui',
      );
      return await jobs.answer(request, reply, job);
    },
  );
}

/** Routes to pause and resume, and to check and prune destinations. */
import { HoldfastError } from '../../base/errors.ts';
import { parseDuration } from '../../base/units.ts';
import { type JobKind, answersNewJobs, jobRoutes } from './job-routes.ts';
import { readDestination } from './named-destination.ts';
import { presentCheck, presentPrune } from '../presentation/job.ts';
import { maybeTimestamp } from '../presentation/values.ts';
import { badField, readTime } from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';
import {
  Check,
  CheckRequest,
  LONGEST_PAUSE,
  PauseRequest,
  PauseState,
  Prune,
  PruneRequest,
} from '../schemas/job.ts';

const CHECK: JobKind<Check> = {
  type: 'check',
  path: '/check',
  schema: Check,
  notFound: 'NOT_FOUND',
  bySource: false,
  present: presentCheck,
};

const PRUNE: JobKind<Prune> = {
  ...CHECK,
  type: 'prune',
  path: '/prune',
  schema: Prune,
  present: presentPrune,
};

export function operationRoutes(app: ApiApp, parts: ResourceParts): void {
  pauseRoutes(app, parts);
  checkRoutes(app, parts);
  pruneRoutes(app, parts);
}

function pauseRoutes(app: ApiApp, { agent, clock }: ResourceParts): void {
  app.post(
    '/pause',
    {
      schema: { body: PauseRequest, response: { 200: PauseState } },
      config: { scope: 'api', body: 'optional' },
    },
    async ({ body }) => {
      const until = readPauseEnd(body, clock.now());
      await agent.pause(until, body.interrupt ?? false);
      return { paused: true, paused_until: maybeTimestamp(until) };
    },
  );

  app.post(
    '/resume',
    {
      schema: { response: { 200: PauseState } },
      config: { scope: 'api' },
    },
    async () => {
      await agent.resume();
      return { paused: false, paused_until: null };
    },
  );
}

function checkRoutes(app: ApiApp, parts: ResourceParts): void {
  const jobs = answersNewJobs(app, parts, CHECK);
  app.post(
    '/check',
    {
      schema: { body: CheckRequest, response: { 200: Check, 202: Check } },
      config: { scope: 'api', duration: 'waits', body: 'optional' },
    },
    async (request, reply) => {
      const { destination, read_data: readData } = request.body;
      const job = await parts.agent.submit(
        {
          type: 'check',
          destination: readDestination(destination, parts),
          read_data: readData ?? parts.settings().maintenance.checkReadData,
        },
        'api',
        jobs.note(request),
      );
      return await jobs.answer(request, reply, job);
    },
  );
  jobRoutes(app, parts, CHECK);
}

function pruneRoutes(app: ApiApp, parts: ResourceParts): void {
  const jobs = answersNewJobs(app, parts, PRUNE);
  app.post(
    '/prune',
    {
      schema: { body: PruneRequest, response: { 200: Prune, 202: Prune } },
      config: { scope: 'api', duration: 'waits', body: 'optional' },
    },
    async (request, reply) => {
      const { destination, apply_retention: applyRetention } = request.body;
      const job = await parts.agent.submit(
        {
          type: 'prune',
          destination: readDestination(destination, parts),
          apply_retention: applyRetention,
        },
        'api',
        jobs.note(request),
      );
      return await jobs.answer(request, reply, job);
    },
  );
  jobRoutes(app, parts, PRUNE);
}

/**
 * The end of the pause in milliseconds since 1970; null for a pause without end.
 * @throws {ApiError} INVALID_REQUEST
 */
function readPauseEnd({ until, for: duration }: PauseRequest, now: number): number | null {
  if (until !== undefined && duration !== undefined) {
    throw badField('until', 'cannot be combined with for', 'Give one of the two, or neither.');
  }
  if (duration !== undefined) return now + readDuration(duration);
  if (until === undefined) return null;
  const end = readTime('until', until);
  if (end > now) return end;
  throw badField('until', 'is in the past', 'Give a time in the future.');
}

/** Milliseconds. */
function readDuration(duration: number | string): number {
  if (typeof duration === 'number') return duration * 1000;
  const ms = parsedDuration(duration);
  if (ms >= 1000 && ms <= LONGEST_PAUSE * 1000) return ms;
  throw badField(
    'for',
    'is shorter than a second or longer than a year',
    'Leave it out to pause without an end.',
  );
}

function parsedDuration(text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    if (!(cause instanceof HoldfastError)) throw cause;
    throw badField('for', 'is not a duration', cause.hint);
  }
}

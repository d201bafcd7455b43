/** `GET /status`: overall health for everybody, and with a token also what is backed up and where. */
import { type Static, Type } from '../../base/schema-type.ts';
import type { Clock } from '../../base/clock.ts';
import {
  type Agent,
  type DestinationStatus,
  type FullStatus,
  PARTNER_CHECK_CODES,
  type PublicStatus,
  type SourceStatus,
} from '../../jobs/agent.ts';
import { sentenceOf } from '../../jobs/protection.ts';
import { headlineOf, REASONS, type Statement, STATEMENT_CODES } from '../../jobs/statement.ts';
import type { Plan } from '../wire/limits.ts';
import { arrivalOf } from '../framework/plugin-order.ts';
import { maybeTimestamp, shownDestination, timestamp } from '../presentation/values.ts';
import type { Quota } from '../access/rate-limits.ts';
import type { ApiApp } from '../framework/route.ts';

const Time = Type.String({ format: 'date-time' });
const MaybeTime = Type.Union([Time, Type.Null()]);
const MaybeBytes = Type.Union([Type.Integer(), Type.Null()]);

const LEVELS = ['good', 'warning', 'bad'] as const;

/** The subject is given as codes and figures; `sentence` is English. */
const StatementData = Type.Object({
  code: Type.Enum([...STATEMENT_CODES]),
  level: Type.Enum([...LEVELS]),
  severity: Type.Integer(),
  sentence: Type.String(),
  sources: Type.Array(Type.String()),
  destinations: Type.Array(Type.String()),
  files: Type.Array(Type.String()),
  figures: Type.Record(Type.String(), Type.Number()),
  reason: Type.Union([Type.Enum([...REASONS]), Type.Null()]),
  last_good_backup_at: MaybeTime,
  check: Type.Union([Type.String(), Type.Null()]),
  check_code: Type.Union([Type.Enum([...PARTNER_CHECK_CODES]), Type.Null()]),
  /** The last snapshot before the event that an alarm reports. */
  snapshot_before: Type.Union([
    Type.Object({ snapshot_id: Type.String(), destination: Type.String() }),
    Type.Null(),
  ]),
});

const PUBLIC_FIELDS = {
  status: Type.Enum(['ok', 'degraded', 'error', 'starting', 'paused']),
  version: Type.String(),
  api_version: Type.Literal('v1'),
  uptime_seconds: Type.Integer(),
  time: Time,
  jobs: Type.Object({ running: Type.Integer(), queued: Type.Integer() }),
  last_backup: Type.Union([Type.Object({ status: Type.String(), finished_at: Time }), Type.Null()]),
  next_run_at: MaybeTime,
  /** The worst statement. `more`: how many other things need attention. */
  headline: Type.Object({
    code: Type.Enum([...STATEMENT_CODES]),
    level: Type.Enum([...LEVELS]),
    severity: Type.Integer(),
    more: Type.Integer(),
    sentence: Type.Optional(Type.String()),
  }),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Type.Enum(['ok', 'warning', 'error']),
      code: Type.Optional(Type.Enum([...PARTNER_CHECK_CODES])),
      message: Type.String(),
    }),
  ),
};

const RateLimitData = Type.Object({
  limit: Type.Integer(),
  remaining: Type.Integer(),
  /** Seconds since 1970. */
  reset: Type.Integer(),
  window_seconds: Type.Integer(),
});

const FULL_FIELDS = {
  statements: Type.Array(StatementData),
  plan: Type.Enum(['free_trial', 'pro', 'business']),
  rate_limit: RateLimitData,
  sources: Type.Array(
    Type.Object({
      path: Type.String(),
      destination: Type.String(),
      schedule: Type.Union([Type.String(), Type.Null()]),
      last_good_backup_at: MaybeTime,
      next_run_at: MaybeTime,
      overdue: Type.Boolean(),
      watching: Type.Boolean(),
    }),
  ),
  destinations: Type.Array(
    Type.Object({
      name: Type.String(),
      url: Type.String(),
      reachable: Type.Union([Type.Boolean(), Type.Null()]),
      reached_at: MaybeTime,
      unreachable_reason: Type.Union([Type.Enum(['not_mounted', 'not_there', 'no_answer']), Type.Null()]),
      untested: Type.Boolean(),
      embedded: Type.Boolean(),
      used_bytes: MaybeBytes,
      same_disk: Type.Union([Type.Boolean(), Type.Null()]),
    }),
  ),
  storage: Type.Object({ used_bytes: Type.Integer(), free_bytes: MaybeBytes }),
  notices: Type.Object({ held: Type.Integer(), held_until: Type.Union([Type.String(), Type.Null()]) }),
  watcher: Type.Object({ status: Type.String(), directories: Type.Integer() }),
  config: Type.Object({
    status: Type.Enum(['ok', 'degraded']),
    file: Type.String(),
    error: Type.Union([Type.String(), Type.Null()]),
  }),
};

const PublicData = Type.Object(PUBLIC_FIELDS);
type PublicData = Static<typeof PublicData>;
const FullData = Type.Object({ ...PUBLIC_FIELDS, ...FULL_FIELDS });
type FullData = Static<typeof FullData>;
const StatusData = Type.Union([PublicData, FullData]);

export interface StatusParts {
  readonly agent: Pick<Agent, 'publicStatus' | 'fullStatus'>;
  readonly clock: Clock;
  readonly plan: () => Plan;
}

export function statusRoutes(app: ApiApp, { agent, clock, plan }: StatusParts): void {
  app.get(
    '/status',
    {
      config: {
        scope: 'public',
      },
      schema: { response: { 200: StatusData } },
    },
    async (request): Promise<PublicData | FullData> => {
      const { caller, quota } = arrivalOf(request);
      if (caller.kind === 'anonymous') {
        // A caller with a token wants the full status, and has to learn that the token is not valid.
        if (caller.tried) throw caller.problem();
        return publicPart(agent.publicStatus(), clock);
      }
      const full = await agent.fullStatus();
      const { sources, destinations, storage, notices, watcher, config } = full;
      return {
        ...publicPart(full, clock),
        ...statementsPart(full, clock),
        plan: plan(),
        rate_limit: rateLimitPart(quota),
        sources: sources.map(sourcePart),
        destinations: destinations.map(destinationPart),
        storage,
        notices,
        watcher,
        config,
      };
    },
  );
}

function publicPart(status: PublicStatus, clock: Clock): PublicData {
  const { last_backup: last } = status;
  return {
    status: status.status,
    version: status.version,
    api_version: 'v1',
    uptime_seconds: status.uptime_seconds,
    time: timestamp(clock.now()),
    jobs: status.jobs,
    last_backup: last === null ? null : { status: last.status, finished_at: timestamp(last.finished_at) },
    next_run_at: maybeTimestamp(status.next_run_at),
    headline: { ...status.headline },
    checks: [...status.checks],
  };
}

function statementsPart(status: FullStatus, clock: Clock): Pick<FullData, 'headline' | 'statements'> {
  const { code, level, severity, more, ...facts } = headlineOf(status.statements);
  const said = (one: Statement): string => sentenceOf(one, status.checks, clock.now());
  const sentence = said({ code, level, severity, ...facts });
  return {
    headline: { code, level, severity, more, sentence },
    statements: status.statements.map((one) => ({
      code: one.code,
      level: one.level,
      severity: one.severity,
      sentence: said(one),
      sources: [...one.paths],
      destinations: [...one.to],
      files: [...one.files],
      figures: { ...one.figures },
      reason: one.reason,
      last_good_backup_at: maybeTimestamp(one.since),
      check: one.check,
      check_code: one.checkCode,
      snapshot_before:
        one.before === null
          ? null
          : { snapshot_id: one.before.snapshot, destination: one.before.destination },
    })),
  };
}

export function rateLimitPart(quota: Quota): Static<typeof RateLimitData> {
  return {
    limit: quota.limit,
    remaining: quota.remaining,
    reset: Math.ceil(quota.resetAtMs / 1000),
    window_seconds: Math.round(quota.windowMs / 1000),
  };
}

function sourcePart(source: SourceStatus) {
  return {
    ...source,
    last_good_backup_at: maybeTimestamp(source.last_good_backup_at),
    next_run_at: maybeTimestamp(source.next_run_at),
  };
}

function destinationPart({ url, reached_at: at, ...others }: DestinationStatus) {
  return { ...others, url: shownDestination(url), reached_at: maybeTimestamp(at) };
}

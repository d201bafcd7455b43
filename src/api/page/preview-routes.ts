/**
 * Previews of settings before they are saved: whether they are valid, when jobs run, what a prune removes. Also sends a
 * test notice.
 */
import type { Static } from '../../base/schema-type.ts';
import { RequestError } from '../../base/errors.ts';
import type { RetentionSettings } from '../../config/settings.ts';
import { checkAgainstSchema } from '../../config/validate.ts';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { timestamp } from '../presentation/values.ts';
import type { ApiApp } from '../framework/route.ts';
import {
  NoticeTest,
  NoticeTestRequest,
  RetentionPreview,
  RetentionPreviewRequest,
  SchedulePreview,
  SchedulePreviewRequest,
  ValidateRequest,
  Validation,
} from '../schemas/page/settings.ts';
import type { IsFresh } from '../access/secret-guard.ts';
import { asAnswer, changesTo, presentOf, refusal } from '../routes/settings-routes.ts';
import type { SettingsFile } from '../routes/resource-parts.ts';

export type NoticeChannel = Static<typeof NoticeTestRequest>['channel'];

/** What a prune would remove. Times are in milliseconds since 1970. */
export interface Forgetting {
  /** Name of the destination. */
  readonly destination: string;
  readonly kept: number;
  readonly removed: number;
  /** The newest snapshots first; cut off at the requested limit. */
  readonly items: readonly {
    readonly id: string;
    readonly source: string;
    readonly created_at: number;
    readonly size_bytes: number;
    readonly keep: boolean;
    readonly reasons: readonly string[];
  }[];
}

export interface PreviewParts {
  /** Absent where requests cannot change the settings. */
  readonly settingsFile?: SettingsFile | undefined;
  /** Absent where no secrets can be typed. */
  readonly isFreshSecret?: IsFresh | undefined;
  /**
   * The next times when a schedule is due, in milliseconds since 1970. `timeZone` null: the time zone of the settings.
   * @throws {RequestError} for a schedule or a time zone that is not valid
   */
  readonly nextRuns: (schedule: string, timeZone: string | null) => Promise<readonly number[]>;
  /**
   * What a prune would remove, by the given rules or those in force, from the named destination or the default one.
   * @throws {RequestError} INVALID_DESTINATION, SERVICE_UNAVAILABLE
   */
  readonly forgetting: (
    retention: RetentionSettings | undefined,
    destination: string | undefined,
    limit: number,
  ) => Promise<Forgetting>;
  /**
   * Sends one notice. Returns null, or the reason why it was not sent.
   * @throws {RequestError} INVALID_REQUEST when the channel is not set up
   */
  readonly testNotice: (channel: NoticeChannel, signal: AbortSignal) => Promise<string | null>;
}

/** Snapshots that a preview lists individually. */
const MOST_ITEMS = 1_000;

export function previewRoutes(app: ApiApp, parts: PreviewParts): void {
  const { settingsFile, isFreshSecret, nextRuns, forgetting, testNotice } = parts;
  const closing = closingSignal(app);

  if (settingsFile !== undefined) {
    app.post(
      '/settings/validate',
      { config: { scope: 'page' }, schema: { body: ValidateRequest, response: { 200: Validation } } },
      async (request) => ({
        problems: [...(await problemsOf(settingsFile, request.body.settings, isFreshSecret))],
      }),
    );
  }

  app.post(
    '/schedule-preview',
    {
      config: { scope: 'page' },
      schema: { body: SchedulePreviewRequest, response: { 200: SchedulePreview } },
    },
    async ({ body: { schedule, time_zone: zone } }): Promise<SchedulePreview> => {
      try {
        return { next: (await nextRuns(schedule, zone ?? null)).map(timestamp), problem: null };
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        return { next: [], problem: { message: error.message, hint: error.hint } };
      }
    },
  );

  app.post(
    '/retention-preview',
    {
      config: { scope: 'page' },
      schema: { body: RetentionPreviewRequest, response: { 200: RetentionPreview } },
    },
    async ({ body: { retention, destination } }): Promise<RetentionPreview> => {
      const rules = retention === undefined ? undefined : readRetention(retention);
      const { items, ...counts } = await forgetting(rules, destination, MOST_ITEMS);
      return {
        ...counts,
        items: items.map(({ id, created_at: createdAt, reasons, ...item }) => ({
          ...item,
          snapshot_id: id,
          created_at: timestamp(createdAt),
          reasons: [...reasons],
        })),
      };
    },
  );

  app.post(
    '/notices/test',
    { config: { scope: 'page' }, schema: { body: NoticeTestRequest, response: { 200: NoticeTest } } },
    async ({ body: { channel } }, reply) => {
      const problem = await testNotice(channel, untilClosedOr(closing, reply));
      return { sent: problem === null, problem };
    },
  );
}

type Problems = Validation['problems'];

/**
 * The problems for which `PUT /settings` would refuse the settings; empty when it would accept them.
 * @throws {ApiError} when the file itself cannot be changed
 */
async function problemsOf(
  file: SettingsFile,
  wanted: object,
  isFresh: IsFresh | undefined,
): Promise<Readonly<Problems>> {
  const present = presentOf(file);
  try {
    const changes = changesTo(present, wanted, isFresh);
    await file.check(changes, present.revision);
    return [];
  } catch (error) {
    const answer = asAnswer(error);
    if (answer instanceof ApiError && !OF_THE_FILE.has(answer.code))
      return listedIn(answer.details) ?? [problemOf(answer.statement, answer)];
    if (answer instanceof RequestError && answer.code !== 'REVISION_MISMATCH')
      return [problemOf(answer.message, answer)];
    throw answer;
  }
}

/** Codes of problems that no other settings would solve. */
const OF_THE_FILE: ReadonlySet<string> = new Set(['CONFIG_INVALID', 'SERVICE_UNAVAILABLE']);

function listedIn({ problems }: ApiError['details']): Problems | undefined {
  return Array.isArray(problems) ? (problems as Problems) : undefined;
}

/** One problem from an error that lists none, such as a setting that no request may change, or values nested too deep. */
function problemOf(
  message: string,
  { code, details, hint }: Pick<ApiError | RequestError, 'code' | 'details' | 'hint'>,
): Problems[number] {
  const { path } = details;
  const field = typeof path === 'string' ? path : '';
  return { field, message, hint, ...(code === 'FORBIDDEN' ? { guarded: true } : {}) };
}

/** @throws {ApiError} as for settings with these rules */
function readRetention(retention: object): RetentionSettings {
  const { value, faults } = checkAgainstSchema({ retention });
  if (value === undefined) throw refusal(faults);
  return value.retention;
}

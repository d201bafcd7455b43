/**
 * `GET` and `PUT /settings`: read and replace the whole configuration. A replacement must name the revision that it is
 * based on.
 */
import { type Static, Type } from '../../base/schema-type.ts';
import { ConfigError, InvalidChange, shownKeyPath } from '../../config/config-error.ts';
import type { ConfigChange } from '../../config/config-edit.ts';
import { NO_FILE } from '../../config/load.ts';
import { type PresentSettings, replaceSettings } from '../../config/replacement.ts';
import { CONFIG_VERSION, type FilledConfig } from '../../config/schema.ts';
import { checkAgainstSchema, type Fault, withIndexes } from '../../config/validate.ts';
import { BugError, StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { badField } from './request-values.ts';
import type { ResourceParts, SettingsFile } from './resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';
import { requireUnguardedByPage, type IsFresh } from '../access/secret-guard.ts';
import { requireUnguarded } from '../access/settings-guard.ts';

/** Settings are checked against the schema of the configuration file, not here. */
const AnySettings = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });
const SettingsReport = Type.Object({ revision: Type.String(), settings: AnySettings });
const SettingsRequest = Type.Object({ settings: AnySettings }, { additionalProperties: false });

export function settingsRoutes(app: ApiApp, { settingsFile, isFreshSecret }: ResourceParts): void {
  if (settingsFile === undefined) return;
  const closing = closingSignal(app);

  app.get(
    '/settings',
    {
      schema: { response: { 200: SettingsReport } },
      config: { scope: 'api' },
    },
    async (_request, reply) => report(settingsFile, reply),
  );

  app.put(
    '/settings',
    {
      schema: { body: SettingsRequest, response: { 200: SettingsReport } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const expected = readIfMatch(request.headers['if-match']);
      const present = presentOf(settingsFile);
      if (expected !== undefined && !expected.includes(present.revision)) throw mismatch(present.revision);
      const changes = changesTo(present, request.body.settings, isFreshSecret);
      try {
        await settingsFile.edit(changes, present.revision, untilClosedOr(closing, reply));
      } catch (error) {
        throw asAnswer(error);
      }
      return report(settingsFile, reply);
    },
  );
}

/**
 * The changes that give the file the wanted settings. `isFresh` is for the page alone, which may put fresh secrets into
 * the settings.
 * @throws {ApiError} for a violation of the schema, or FORBIDDEN for a setting that no request may change
 */
export function changesTo(
  present: PresentSettings,
  wanted: object,
  isFresh?: IsFresh,
): readonly ConfigChange[] {
  const { values, changes, faults } = replaceSettings(present, wanted);
  if (values === undefined) throw refusal(faults);
  if (isFresh === undefined) requireUnguarded(present.values, values, wanted);
  else requireUnguardedByPage(present.values, { values, written: wanted }, isFresh);
  return changes;
}

interface Present extends PresentSettings {
  readonly revision: string;
}

const NEW_FILE = JSON.stringify({ version: CONFIG_VERSION });

/** The settings in force, with their revision: those of the file, or all defaults. */
export function presentOf({ document }: Pick<SettingsFile, 'document'>): Present {
  return document ?? { text: NEW_FILE, values: defaults(), revision: NO_FILE };
}

function defaults(): FilledConfig {
  const { value } = checkAgainstSchema({});
  if (value === undefined) throw new BugError('The defaults of the configuration are not valid');
  return value;
}

function report(file: SettingsFile, reply: { header(name: string, value: string): unknown }): Report {
  const { revision, values } = presentOf(file);
  reply.header('etag', `"${revision}"`);
  const settings = Object.fromEntries(Object.entries(values).filter(([name]) => name !== '$schema'));
  return { revision, settings };
}

type Report = Static<typeof SettingsReport>;

/**
 * The revisions that the request accepts as the present one; undefined for any.
 * @throws {ApiError} MISSING_FIELD, INVALID_REQUEST
 */
function readIfMatch(header: string | undefined): readonly string[] | undefined {
  if (header === undefined) {
    throw new ApiError('MISSING_FIELD', 'The header If-Match is missing', {
      hint: 'Send the revision from GET /settings, or * to replace any revision.',
      details: { field: 'If-Match' },
    });
  }
  if (header.trim() === '*') return undefined;
  const names = header.split(',').map((part) => /^\s*(?:W\/)?"?([A-Za-z0-9]{1,64})"?\s*$/.exec(part)?.[1]);
  const known = names.filter((name) => name !== undefined);
  if (known.length === names.length) return known;
  throw badField('If-Match', 'is not a revision', 'Send the one from GET /settings.');
}

function mismatch(revision: string): ApiError {
  return new ApiError('REVISION_MISMATCH', 'The settings were changed in the meantime', {
    hint: 'Read them again, then repeat the change if you still want it.',
    details: { revision },
  });
}

const MOST_PROBLEMS = 10;
const PUBLIC_FAULTS: Readonly<Partial<Record<string, 'UNKNOWN_FIELD' | 'MISSING_FIELD' | 'SECRET_IN_URL'>>> =
  {
    UNKNOWN_FIELD: 'UNKNOWN_FIELD',
    MISSING_FIELD: 'MISSING_FIELD',
    SECRET_IN_URL: 'SECRET_IN_URL',
  };

/** The error for settings that violate the schema. The message is about the first fault. */
export function refusal(faults: readonly Fault[]): ApiError {
  const problems = faults.slice(0, MOST_PROBLEMS).map(({ path, message, hint }) => ({
    field: shownKeyPath(withIndexes(path)),
    message,
    hint,
  }));
  const [first] = problems;
  if (first === undefined) throw new BugError('Settings were refused without a reason');
  const where = first.field === '' ? '' : `${first.field}: `;
  return new ApiError(PUBLIC_FAULTS[faults[0]?.code ?? ''] ?? 'INVALID_REQUEST', `${where}${first.message}`, {
    hint: first.hint,
    details: { path: first.field, problems },
  });
}

/**
 * Converts errors of `SettingsFile.edit` to responses. A broken or unwritable file is a fault of neither the request
 * nor the agent.
 */
export function asAnswer(error: unknown): unknown {
  if (error instanceof InvalidChange) return withProblems(error);
  if (error instanceof ConfigError) {
    const [first] = error.problems;
    return new ApiError('CONFIG_INVALID', 'The configuration file has mistakes', {
      hint: `Correct it on the computer itself first. To find the mistakes, run: ${holdfast`config validate`}`,
      details: first === undefined ? {} : { line: first.line, column: first.column, path: first.path },
      cause: error,
    });
  }
  if (error instanceof StateError) {
    return new ApiError('SERVICE_UNAVAILABLE', 'The configuration file cannot be written', {
      hint: 'Check that its directory is writable and that the disk has space.',
      cause: error,
    });
  }
  return error;
}

/** A change that would make the file invalid, with all problems, in the same form as violations of the schema. */
function withProblems({ code, message, hint, details, problems }: InvalidChange): ApiError {
  return new ApiError(PUBLIC_FAULTS[code] ?? 'INVALID_REQUEST', message, {
    hint,
    details: {
      ...details,
      problems: problems
        .slice(0, MOST_PROBLEMS)
        .map((one) => ({ field: one.path, message: one.message, hint: one.hint })),
    },
  });
}

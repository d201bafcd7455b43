/** `GET /suggestions`, `GET /directories` and `POST /estimate`: choosing what to protect. */
import { SourceError } from '../../base/errors.ts';
import { checkAgainstSchema, type Fault } from '../../config/validate.ts';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { badField, readPath } from '../routes/request-values.ts';
import type { ApiApp } from '../framework/route.ts';
import {
  Directories,
  DirectoryQuery,
  Estimate,
  EstimateRequest,
  Suggestions,
} from '../schemas/page/protect.ts';
import { refusal } from '../routes/settings-routes.ts';
import type { EstimateWish, ProtectParts } from './protect-parts.ts';

/** Default time limit of an estimate, in seconds. */
const WITHIN = 10;

export function choosingRoutes(
  app: ApiApp,
  { suggestions, directories, estimate }: Pick<ProtectParts, 'suggestions' | 'directories' | 'estimate'>,
): void {
  const closing = closingSignal(app);

  app.get(
    '/suggestions',
    { config: { scope: 'page' }, schema: { response: { 200: Suggestions } } },
    async () => await suggestions(),
  );

  app.get(
    '/directories',
    { config: { scope: 'page' }, schema: { querystring: DirectoryQuery, response: { 200: Directories } } },
    async (request, reply) => {
      const { path } = request.query;
      if (path !== undefined) readPath('path', path);
      if (path !== undefined && !path.startsWith('/'))
        throw badField('path', 'is not an absolute path', 'Enter the full path.');
      return await directories(path, untilClosedOr(closing, reply));
    },
  );

  app.post(
    '/estimate',
    {
      config: { scope: 'page', duration: 'waits' },
      schema: { body: EstimateRequest, response: { 200: Estimate } },
    },
    async (request, reply) => {
      const { path, exclude = {}, within = WITHIN } = request.body;
      readPath('path', path);
      try {
        return await estimate(wishOf(path, exclude, within), untilClosedOr(closing, reply));
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        const { message, hint, details } = error;
        throw new ApiError('INVALID_SOURCE', message, { hint, details, cause: error });
      }
    },
  );
}

/**
 * Checks the exclude rules against the schema of the settings, which also fills in defaults.
 * @throws {ApiError} for a violation of the schema
 */
function wishOf(path: string, exclude: object, within: number): EstimateWish {
  const { value, faults } = checkAgainstSchema({ sources: [{ path, exclude: withTexts(exclude) }] });
  const [source] = value?.sources ?? [];
  if (source === undefined) throw refusal(faults.map(belowSource));
  return { path, exclude: source.exclude, within };
}

/** Converts a size given as a number to text, the only form that the settings accept. */
function withTexts(exclude: { readonly largerThan?: unknown }): object {
  const { largerThan } = exclude;
  return typeof largerThan === 'number' ? { ...exclude, largerThan: String(largerThan) } : exclude;
}

/** Shortens paths such as `sources[0].exclude.patterns` to `exclude.patterns`. */
function belowSource(fault: Fault): Fault {
  return { ...fault, path: fault.path.slice(2) };
}

/**
 * `GET /destinations`, `POST /destinations/test` and `POST /passphrase-check`: the destinations, whether they work, and
 * whether a secret opens them.
 */
import type { Clock } from '../../base/clock.ts';
import { checkAgainstSchema, type Fault } from '../../config/validate.ts';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { tooMany } from '../access/rate-limits.ts';
import type { ApiApp } from '../framework/route.ts';
import {
  Destinations,
  DestinationTest,
  DestinationTestRequest,
  PassphraseCheck,
  PassphraseCheckRequest,
} from '../schemas/page/protect.ts';
import { presentOf, refusal } from '../routes/settings-routes.ts';
import type { DestinationWish, FilledDestination, ProtectParts } from './protect-parts.ts';
import { requireDestinationUnguarded } from '../access/secret-guard.ts';
import type { SettingsFile } from '../routes/resource-parts.ts';

/** Milliseconds that the test of a destination may take. */
const TEST_MS = 60_000;
/** Limit on wrong passphrases. */
const WRONG = { limit: 10, windowMs: 60_000 } as const;
/** Name of a destination that has no name yet. */
const UNNAMED = 'new';

export interface DestinationRouteParts extends Pick<
  ProtectParts,
  'destinations' | 'testDestination' | 'isFreshSecret' | 'checkPassphrase'
> {
  readonly settingsFile: SettingsFile | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
}

export function destinationRoutes(app: ApiApp, parts: DestinationRouteParts): void {
  const { destinations, testDestination, checkPassphrase, clock } = parts;
  const closing = closingSignal(app);

  app.get(
    '/destinations',
    { config: { scope: 'page' }, schema: { response: { 200: Destinations } } },
    async () => await destinations(),
  );

  app.post(
    '/destinations/test',
    {
      config: { scope: 'page', duration: 'waits' },
      schema: { body: DestinationTestRequest, response: { 200: DestinationTest } },
    },
    async (request, reply) => {
      const wish = wishOf(request.body, parts);
      const closed = untilClosedOr(closing, reply);
      const late = new AbortController();
      const answered = new AbortController();
      // Work that the test still has to do at the destination after that time, such as removing what it stored, is not
      // awaited.
      const patience = clock.sleep(TEST_MS, answered.signal).then(tooSlow);
      const trial = testDestination(wish, AbortSignal.any([closed, late.signal]));
      try {
        return await Promise.race([trial, patience]);
      } finally {
        patience.catch(() => undefined);
        trial.catch(() => undefined);
        answered.abort();
        late.abort();
      }
    },
  );

  app.post(
    '/passphrase-check',
    {
      config: { scope: 'page', duration: 'waits' },
      schema: { body: PassphraseCheckRequest, response: { 200: PassphraseCheck } },
    },
    async (request, reply) => {
      const { destination, secret } = request.body;
      const answer = await checkPassphrase(destination, secret, untilClosedOr(closing, reply));
      if ('opens' in answer) return { opens: answer.opens };
      throw tooMany('wrong passphrases', { ...WRONG, ...answer, ...NONE_LEFT });
    },
  );
}

const NONE_LEFT = { accepted: false, remaining: 0, resetAtMs: 0 } as const;

interface TestBody {
  readonly name?: string | undefined;
  readonly destination?: Readonly<Record<string, unknown>> | undefined;
  readonly files?: readonly string[] | undefined;
}

/** @throws {ApiError} for an invalid destination, and for secrets that the test would send elsewhere */
function wishOf(body: TestBody, { settingsFile, isFreshSecret }: DestinationRouteParts): DestinationWish {
  const { name, destination, files } = body;
  if (destination === undefined) {
    if (name !== undefined) return { name, files };
    throw new ApiError('MISSING_FIELD', "Both 'name' and 'destination' are missing", {
      hint: 'Name a configured destination, or give one to test.',
      details: { field: 'name' },
    });
  }
  const named = name ?? UNNAMED;
  const filled = filledOf(named, destination);
  // Checked as if the destination were saved, because the test sends its secrets, too.
  const present = settingsFile === undefined ? { destinations: {} } : presentOf(settingsFile).values;
  requireDestinationUnguarded(named, filled, present, isFreshSecret);
  return { name: named, destination: filled, files };
}

function filledOf(name: string, destination: object): FilledDestination {
  const { value, faults } = checkAgainstSchema({ destinations: { [name]: destination } });
  const filled = value?.destinations[name];
  if (filled === undefined) throw refusal(faults.map(belowDestination));
  return filled;
}

/** Converts paths such as `destinations.new.access.s3` to `destination.access.s3`. */
function belowDestination(fault: Fault): Fault {
  return fault.atKey === true && fault.path.length === 2
    ? { ...fault, path: ['name'] }
    : { ...fault, path: ['destination', ...fault.path.slice(2)] };
}

function tooSlow(): DestinationTest {
  return {
    usable: false,
    findings: [
      {
        check: 'time',
        status: 'error',
        message: 'The test did not finish within a minute',
        hint: 'Check the connection to it, and try again.',
      },
    ],
    write_speed: null,
    read_speed: null,
    clock_skew_seconds: null,
  };
}

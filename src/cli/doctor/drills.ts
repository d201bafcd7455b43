/** Checks that backups are proven to come back: by drills of the recovery code, and by the trial restores of the agent. */
import { localTime } from '../../base/units.ts';
import { HoldfastError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { DEFAULT_DESTINATION, EMBEDDED_DESTINATION } from '../../config/effective-settings.ts';
import { holdsBackups } from '../../config/embedded-repository.ts';
import type { DestinationView } from '../../control/calls.ts';
import { callAgent } from '../../control/client.ts';
import { DAMAGE_CODES, type Job } from '../../jobs/job.ts';
import type { Context } from '../command/context.ts';
import { lastKeyDrill, openedRepositories } from '../keys/drilled-keys.ts';
import { knownRepositoryId, statePaths } from '../command/state-directory.ts';
import { count } from '../terminal/wording.ts';
import { ok, problem, warning, type Finding } from '../../daemon/doctor/finding.ts';

/** Drills are asked for twice a year. The limit leaves time for a holiday. */
const KEY_DRILL_GOOD_MS = 200 * 86_400_000;
/** How many drills are looked at: some may have been canceled, and each destination has its own. */
const JOBS_LOOKED_AT = 50;
const CHECK = 'restore drill';

type DrillContext = Pick<Context, 'env' | 'clock' | 'signal'>;

/** Checks the drills of each destination, as each has its own keys: that the paper opens one says nothing about another. */
export async function checkKeyDrill(context: DrillContext): Promise<Finding> {
  const { directory } = statePaths(context.env);
  const drilled: Drilled[] = [];
  for (const one of await usedPlaces(context))
    drilled.push({ name: one.name, last: await lastKeyDrill(directory, one.id) });
  return keyDrillFinding(drilled, context.clock.now());
}

export interface Drilled {
  /** The name of the destination; undefined if no running agent tells it. */
  readonly name: string | undefined;
  /** The last drill, in milliseconds since 1970; undefined if there was none. */
  readonly last: number | undefined;
}

export function keyDrillFinding(places: readonly Drilled[], nowMs: number): Finding {
  const check = 'key drill';
  if (places.length === 0) return ok(check, 'No backups yet');
  const isLate = ({ last }: Drilled): boolean => last === undefined || nowMs - last > KEY_DRILL_GOOD_MS;
  const wanting = places.filter(isLate).toSorted((a, b) => (a.last ?? 0) - (b.last ?? 0));
  const named = (some: readonly Drilled[]): string =>
    some.flatMap(({ name }) => (name === undefined ? [] : `"${name}"`)).join(', ');
  const [first] = wanting;
  if (first === undefined) {
    const oldest = Math.min(...places.flatMap(({ last }) => last ?? []));
    const on = named(places) === '' ? '' : ` on ${named(places)}`;
    return ok(check, `A recovery code or passphrase was last shown to work${on} on ${localTime(oldest)}`);
  }
  const command = first.name === undefined ? holdfast`keys drill` : holdfast`keys drill -r ${first.name}`;
  const hint = `Test it twice a year, typing the code from paper: ${command}`;
  const never = wanting.filter(({ last }) => last === undefined);
  if (never.length === 0)
    return warning(
      check,
      `A recovery code or passphrase was last shown to work on ${named([first]) || 'a repository'} on ${localTime(first.last ?? nowMs)}`,
      hint,
    );
  const where = named(never) === '' ? '' : ` of ${named(never)}`;
  return warning(check, `The recovery code${where} has never been tested on this machine`, hint);
}

/**
 * Destinations with a repository that holds backups, as far as the agent knows them; else the repositories that were
 * opened on this machine.
 */
async function usedPlaces({
  env,
  signal,
}: DrillContext): Promise<readonly { readonly name: string | undefined; readonly id: string }[]> {
  const paths = statePaths(env);
  const opened = await openedRepositories(paths.directory);
  const embedded = await knownRepositoryId(paths);
  // Every start makes the embedded repository. While it is empty, there is nothing to drill.
  const isUsed = (id: string): boolean => id !== embedded || holdsBackups(paths.directory);
  let told: readonly DestinationView[] = [];
  try {
    told = await callAgent(paths.run, 'destinations', {}, signal);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
  const named = told.flatMap(({ name, repository_id: id }) =>
    id === null || !isUsed(id)
      ? []
      : { name: id === embedded && name === DEFAULT_DESTINATION ? EMBEDDED_DESTINATION : name, id },
  );
  if (named.length > 0) return named;
  return opened.filter(isUsed).map((id) => ({ name: undefined, id }));
}

/** Checks the trial restores of the running agent, which makes one every week by default. */
export async function checkRestoreDrill({ env, signal }: Pick<Context, 'env' | 'signal'>): Promise<Finding> {
  const { run } = statePaths(env);
  const drills = { types: ['drill'], status: null, limit: JOBS_LOOKED_AT } as const;
  const jobs = await callAgent(run, 'jobs', drills, signal);
  const { destinations } = await callAgent(run, 'status', {}, signal);
  // A destination that has left the settings has nothing to prove.
  const names = new Set(destinations.map(({ name }) => name));
  return restoreDrillFinding(jobs.filter(({ spec }) => names.has(spec.destination)));
}

/**
 * The worst finding about the last drill of each destination.
 * @param jobs drills, the newest first
 */
export function restoreDrillFinding(jobs: readonly Job[]): Finding {
  const ended = jobs.filter(({ status }) => status === 'completed' || status === 'failed');
  const lasts = new Map(ended.toReversed().map((job) => [job.spec.destination, job]));
  const findings = ended.filter((job) => lasts.get(job.spec.destination) === job).map(findingOf);
  const worst =
    findings.find(({ status }) => status === 'error') ?? findings.find(({ status }) => status === 'warning');
  return worst ?? findings[0] ?? ok(CHECK, 'No drill has finished yet');
}

function findingOf(last: Job): Finding {
  const when = last.finished_at === null ? 'an unknown day' : localTime(last.finished_at);
  const { destination } = last.spec;
  const hint = `See: ${holdfast`jobs ${last.id}`}`;
  if (last.status === 'failed') {
    const isDamage = DAMAGE_CODES.includes(last.error?.code ?? '');
    const say = isDamage ? problem : warning;
    return say(CHECK, `The last drill of "${destination}" failed on ${when}`, hint);
  }
  if (last.files_done === 0)
    return warning(CHECK, `The last drill of "${destination}", on ${when}, found no file to restore`, hint);
  return ok(CHECK, `${count(last.files_done, 'file')} from "${destination}" restored correctly on ${when}`);
}

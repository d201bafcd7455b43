/** Checks of what proves that backups come back: drills of the recovery code, and the trial restores of the agent. */
import { holdfast } from '../../base/holdfast-command.ts';
import { callAgent } from '../../control/client.ts';
import { DAMAGE_CODES, type Job } from '../../jobs/job.ts';
import type { Context } from '../context.ts';
import { lastKeyDrill } from '../drilled-keys.ts';
import { statePaths } from '../state-directory.ts';
import { count, localTime } from '../wording.ts';
import { ok, problem, warning, type Finding } from '../../daemon/doctor/finding.ts';

/** Twice a year is what is asked for, and somebody may be on holiday. */
const KEY_DRILL_GOOD_MS = 200 * 86_400_000;
/** Some may have been canceled, and each destination has its own. */
const JOBS_LOOKED_AT = 50;
const CHECK = 'restore drill';

export async function checkKeyDrill({ env, clock }: Pick<Context, 'env' | 'clock'>): Promise<Finding> {
  const check = 'key drill';
  const last = await lastKeyDrill(statePaths(env).directory);
  if (last === 'no repository') return ok(check, 'There is no repository yet');
  const hint = `Twice a year, with the paper in your hand: ${holdfast`keys drill`}`;
  if (last === undefined)
    return warning(check, 'On this machine the recovery code was never proven to work', hint);
  const text = `A recovery code or passphrase was last proven to work on ${localTime(last)}`;
  return clock.now() - last > KEY_DRILL_GOOD_MS ? warning(check, text, hint) : ok(check, text);
}

/** Of the running agent, which makes one every week unless its settings say otherwise. */
export async function checkRestoreDrill({ env, signal }: Pick<Context, 'env' | 'signal'>): Promise<Finding> {
  const { run } = statePaths(env);
  const drills = { types: ['drill'], status: null, limit: JOBS_LOOKED_AT } as const;
  const jobs = await callAgent(run, 'jobs', drills, signal);
  const { destinations } = await callAgent(run, 'status', {}, signal);
  // One that is no longer used has nothing to prove.
  const names = new Set(destinations.map(({ name }) => name));
  return restoreDrillFinding(jobs.filter(({ spec }) => names.has(spec.destination)));
}

/**
 * Of the last drill of each destination, what the worst says.
 * @param jobs drills, the newest first
 */
export function restoreDrillFinding(jobs: readonly Job[]): Finding {
  const ended = jobs.filter(({ status }) => status === 'completed' || status === 'failed');
  const lasts = new Map(ended.toReversed().map((job) => [job.spec.destination, job]));
  const findings = ended.filter((job) => lasts.get(job.spec.destination) === job).map(findingOf);
  const worst =
    findings.find(({ status }) => status === 'error') ?? findings.find(({ status }) => status === 'warning');
  return worst ?? findings[0] ?? ok(CHECK, 'None has ended yet');
}

function findingOf(last: Job): Finding {
  const when = last.finished_at === null ? 'an unknown day' : localTime(last.finished_at);
  const { destination } = last.spec;
  const hint = `See: ${holdfast`jobs ${last.id}`}`;
  if (last.status === 'failed') {
    const isDamage = DAMAGE_CODES.includes(last.error?.code ?? '');
    const say = isDamage ? problem : warning;
    return say(CHECK, `The last one of "${destination}" failed on ${when}`, hint);
  }
  if (last.files_done === 0)
    return warning(CHECK, `The last one of "${destination}", on ${when}, had no file to bring back`, hint);
  return ok(CHECK, `${count(last.files_done, 'file')} of "${destination}" came back whole on ${when}`);
}

/** Checks that the Partner service of an enrolled machine hears from it. */
import { holdfast } from '../../base/holdfast-command.ts';
import { localTime } from '../../base/units.ts';
import { callAgent } from '../../control/client.ts';
import { ok, warning, type Finding } from '../../daemon/doctor/finding.ts';
import type { PartnerStatus } from '../../jobs/agent.ts';
import type { Context } from '../command/context.ts';
import { statePaths } from '../command/state-directory.ts';

const CHECK = 'partner';

/** Asks the running agent. Undefined on a machine that is not enrolled. */
export async function checkPartner({
  env,
  signal,
}: Pick<Context, 'env' | 'signal'>): Promise<Finding | undefined> {
  const status = await callAgent(statePaths(env).run, 'enrollment', {}, signal);
  return status === null ? undefined : partnerFinding(status);
}

export function partnerFinding({ service, name, plan, reports }: PartnerStatus): Finding {
  const lastAt = reports?.last_at ?? null;
  const last = lastAt === null ? 'no report since the agent started' : `last report ${localTime(lastAt)}`;
  const problem = reports?.problem ?? null;
  if (problem !== null)
    return warning(
      CHECK,
      `${problem}; ${last}`,
      'Backups and restores do not need it. If this lasts, tell your partner.',
    );
  if (plan === null)
    return warning(
      CHECK,
      `No valid plan from ${service}, so the limits of the free trial apply`,
      `Ask your partner, and see: ${holdfast`enroll --status`}`,
    );
  if (plan.status !== 'active') return warning(CHECK, STANDING[plan.status], 'Ask your partner.');
  return ok(CHECK, `Enrolled with ${service} as ${name}; ${last}`);
}

const STANDING = {
  suspended: 'The account at the partner is suspended',
  trial_expired: 'The trial at the partner is over',
} as const;

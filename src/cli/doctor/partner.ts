/** Checks that the Partner service of an enrolled machine hears from it. */
import { localTime } from '../../base/units.ts';
import { callAgent } from '../../control/client.ts';
import { ok, warning, type Finding } from '../../daemon/doctor/finding.ts';
import { endEnrollmentHint } from '../../enrollment/status.ts';
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

/** Only about the reports. What the plan and the account mean for backups stands in their own finding. */
export function partnerFinding({ service, name, reports }: PartnerStatus): Finding {
  const lastAt = reports?.last_at ?? null;
  const last = lastAt === null ? 'no report since the agent started' : `last report ${localTime(lastAt)}`;
  const problem = reports?.problem ?? null;
  if (problem === null) return ok(CHECK, `Enrolled with ${service} as ${name}; ${last}`);
  const needless = 'Backups and restores do not need it.';
  const hint =
    reports?.problem_code === 'device_removed'
      ? `${needless} ${endEnrollmentHint()}`
      : `${needless} If this lasts, tell your partner.`;
  return warning(CHECK, `${problem}; ${last}`, hint);
}

import { localTime } from '../../base/units.ts';
import { hostname } from 'node:os';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { programVersion } from '../../base/program-version.ts';
import { StateError } from '../../base/errors.ts';
import { faultWords, peopleText } from '../../base/people-text.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import type { ControlCall, ControlCalls } from '../../control/calls.ts';
import { takeRunDirectory } from '../../daemon/state/run-directory.ts';
import { enroll } from '../../enrollment/enroll.ts';
import { notEnrolled } from '../../enrollment/membership.ts';
import { type Enrollment, readEnrollment, removeEnrollment } from '../../enrollment/enrollment-file.ts';
import { type PlanDocument, readPlan } from '../../enrollment/signed.ts';
import { endEnrollmentHint, statusOf } from '../../enrollment/status.ts';
import type { PartnerStatus } from '../../jobs/agent.ts';
import { agentObject, askAgent } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions, usage } from '../command/options.ts';
import { canPrompt, promptHidden } from '../terminal/prompt.ts';
import { ensureStateDirectory, statePaths } from '../command/state-directory.ts';
import { printable } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

interface EnrollOptions extends OutputOptions {
  readonly name?: string;
  readonly leave?: boolean;
  readonly status?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('[url]', 'the address of the service, from your partner: https://HOST')
    .argument(
      '[token]',
      'can be used once, within 15 minutes; if left out, you are asked for it, or it is read from standard input',
    )
    .option('--name <name>', 'The name under which your partner sees this machine (default: its host name)')
    .option('--status', 'Show which service this machine is enrolled with, and its plan')
    .option(
      '--leave',
      'Leave the service: nothing is reported any more, and the plan in the configuration applies',
    );
  addOutputOptions(command, { json: 'The result as a JSON object' });
  addExamples(command, [
    [holdfast`enroll https://backup.example.org hfe_…`, 'let a partner look after this machine’s backups'],
    [holdfast`enroll --status`, 'show the plan, and whether reports get through'],
  ]);
  command.action(async (url: string | undefined, token: string | undefined, options: EnrollOptions) => {
    if (options.leave === true && options.status === true)
      throw usage('--leave and --status cannot be combined', 'Use only one of them.');
    if (options.leave === true || options.status === true) {
      if (url !== undefined) throw usage('--leave and --status take no address', 'Leave out the address.');
      await (options.leave === true ? leave(options, context) : show(options, context));
      return;
    }
    if (url === undefined)
      throw usage(
        'The address of the Partner service is missing',
        'Give the address and the token that your partner sent you, or use --status or --leave.',
      );
    const wish = { url, token: token ?? (await readToken(context)), name: options.name ?? hostname() };
    await join(wish, options, context);
  });
}

async function readToken(context: Context): Promise<string> {
  const token = canPrompt(context)
    ? await promptHidden('Enrollment token: ', context)
    : await tokenOnInput(context);
  if (token.trim() !== '') return token.trim();
  throw usage('The enrollment token is missing', 'Give it after the address, or on standard input.');
}

/** The shells of Windows send text with a byte order mark. */
async function tokenOnInput({ stdin }: Context): Promise<string> {
  const read = peopleText(await buffer(stdin));
  if ('text' in read) return read.text;
  throw usage(`The token from standard input ${faultWords(read.fault)}`, 'Give the token after the address.');
}

async function join(
  wish: ControlCalls['enroll']['in'],
  options: OutputOptions,
  context: Context,
): Promise<void> {
  const status = await withAgent(context, 'enroll', wish, async (stateDirectory) => {
    const { clock, signal } = context;
    const place = { stateDirectory, version: programVersion(), now: () => clock.now() };
    const enrollment = await enroll(wish, place, signal);
    return await viewOf(enrollment);
  });
  if (options.json === true) await context.out.json({ type: 'enrolled', ...agentObject(status) });
  else {
    await context.out.line(
      `This machine is enrolled with ${printable(status.service)} as ${printable(status.name)}.`,
    );
    if (status.plan !== null) await context.out.line(planLine(status.plan));
    if (status.reports === null)
      await context.out.line(`Reports are sent once the agent runs: ${holdfast`start`}`);
  }
}

async function leave(options: OutputOptions, context: Context): Promise<void> {
  await withAgent(context, 'end_enrollment', {}, async (stateDirectory) => {
    // An enrollment that cannot be read is removed as well.
    const known = await readEnrollment(stateDirectory).catch((error: unknown) => {
      if (error instanceof StateError && error.code === 'STATE_DAMAGED') return null;
      throw error;
    });
    if (known === undefined) throw notEnrolled();
    await removeEnrollment(stateDirectory);
    return null;
  });
  if (options.json === true) await context.out.json({ type: 'left' });
  else
    await context.out.line(
      'This machine is no longer enrolled. It stays in your partner’s list until your partner removes it.',
    );
}

async function show(options: OutputOptions, context: Context): Promise<void> {
  const status = await withAgentOr(context, 'enrollment', {}, async (stateDirectory) => {
    const enrollment = await readEnrollment(stateDirectory);
    return enrollment === undefined ? null : await viewOf(enrollment);
  });
  const { out } = context;
  if (options.json === true) {
    await out.json({ type: 'enrollment', enrolled: status !== null, ...agentObject(status ?? {}) });
    return;
  }
  if (status === null) {
    await out.line('This machine is not enrolled with a Partner service.');
    return;
  }
  await out.line(
    `Enrolled with ${printable(status.service)} as ${printable(status.name)} since ${localTime(status.enrolled_at)}.`,
  );
  await out.line(
    status.plan === null ? 'No valid plan: the limits of the free trial apply.' : planLine(status.plan),
  );
  if (status.reports === null) await out.line('The agent is not running, so nothing is reported.');
  else await out.line(reportsLine(status.reports));
}

/** Asks the running agent. If none runs, does the work here, while no agent can start. */
async function withAgent<K extends ControlCall>(
  context: Context,
  call: K,
  input: ControlCalls[K]['in'],
  here: (stateDirectory: string) => Promise<ControlCalls[K]['out']>,
): Promise<ControlCalls[K]['out']> {
  return await withAgentOr(context, call, input, async (stateDirectory) => {
    await ensureStateDirectory(stateDirectory);
    await using _lock = await takeRunDirectory(stateDirectory);
    return await here(stateDirectory);
  });
}

async function withAgentOr<K extends ControlCall>(
  context: Context,
  call: K,
  input: ControlCalls[K]['in'],
  here: (stateDirectory: string) => Promise<ControlCalls[K]['out']>,
): Promise<ControlCalls[K]['out']> {
  try {
    return await askAgent(context, call, input);
  } catch (error) {
    if (!(error instanceof StateError && error.code === 'NO_AGENT')) throw error;
  }
  return await here(statePaths(context.env).directory);
}

async function viewOf(enrollment: Enrollment): Promise<PartnerStatus> {
  return statusOf({ enrollment, plan: await planOf(enrollment) }, null);
}

async function planOf({ signedPlan, serviceKey, deviceId }: Enrollment): Promise<PlanDocument | undefined> {
  try {
    return await readPlan(signedPlan, serviceKey, deviceId);
  } catch {
    // The plan is not validly signed, which the output says.
    return undefined;
  }
}

function planLine(plan: NonNullable<PartnerStatus['plan']>): string {
  const standing = {
    active: '',
    suspended: '; the account is suspended',
    trial_expired: '; the trial is over',
  };
  const requests = plan.desktop_requests_per_hour.toLocaleString('en');
  return `Plan ${printable(plan.slug)}: ${requests} API requests an hour${standing[plan.status]}. Without contact to the service it stays valid until ${localTime(plan.grace_until)}.`;
}

/** The text about the reports, for `--status`. */
export function reportsLine(reports: NonNullable<PartnerStatus['reports']>): string {
  const { last_at: lastAt, results_waiting: waiting, results_dropped: dropped, problem } = reports;
  const hint = reports.problem_code === 'device_removed' ? ` ${endEnrollmentHint()}` : '';
  const last =
    lastAt === null ? 'No report sent since the agent started' : `Last report ${localTime(lastAt)}`;
  const parts = [`${last}; ${count(waiting, 'result')} waiting`];
  if (dropped > 0) parts.push(`${count(dropped, 'result')} given up`);
  return `${parts.join(', ')}.${problem === null ? '' : ` ${printable(problem)}.`}${hint}`;
}

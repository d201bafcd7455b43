/** `holdfast service`: runs the agent as a service of the system, which starts with the machine. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { RequestError, StateError, errnoOf } from '../../base/errors.ts';
import { holdfast, sudoHoldfast } from '../../base/holdfast-command.ts';
import { programForSudo } from '../../base/program-call.ts';
import { quoted } from '../../base/shell-words.ts';
import type { Context } from '../command/context.ts';
import {
  asInstalled,
  installCommand,
  installedUnit,
  requireKnownState,
  requireNoPackage,
} from './installed.ts';
import { chosenPerson, requireHome, usualState } from './person.ts';
import {
  allowWriteFile,
  allowWriteText,
  installSteps,
  layoutOf,
  uninstallSteps,
  unitName,
  type Layout,
  type Scope,
} from './plan.ts';
import { windowsAllowWrite, windowsPlaces, windowsServiceState } from './windows-steps.ts';
import { mountPoints, resolved, writablePlace } from './writable-place.ts';
import { runningAgent, waitForAgent, type RunningAgent } from './readiness.ts';
import { doStep, isNeeded, outputOf, shownStep, type Step } from './step.ts';
import { addExamples, addOutputOptions, usage, type OutputOptions } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';

interface ServiceOptions extends OutputOptions {
  readonly user?: boolean;
  /** The name of the person whose service it is. */
  readonly for?: string;
  readonly system?: boolean;
  readonly dryRun?: boolean;
  readonly print?: boolean;
  /** False after `--no-start`. */
  readonly start?: boolean;
  readonly timeout?: string;
  readonly purge?: boolean;
  readonly yes?: boolean;
}

const PATIENCE_SECONDS = 60;

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string): Command => {
    const made = command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help')
      .option('--user', 'For you only (the default unless root); under sudo, for the user who called it')
      .option('--for <name>', 'For that user only (Linux, as root)')
      .option('--system', 'For the whole machine, with its own user (the default for root)');
    return addOutputOptions(made, { json: 'The result as a JSON object' });
  };
  const dry = (made: Command): Command => made.option('--dry-run', 'Only show what would be done');

  dry(sub('install', 'Start the agent now, and whenever the machine starts'))
    .option('--print', 'Print the files to standard output instead')
    .option('--no-start', 'Install everything, but start nothing')
    .option('--timeout <seconds>', `How long to wait for the agent to answer (${PATIENCE_SECONDS})`)
    .action(async (options: ServiceOptions) => await install(options, context));
  dry(sub('uninstall', 'Stop the agent and remove the service; backups and settings are kept'))
    .option('--purge', 'Also delete the state directory: settings, keys, and the repository in it')
    .option('--yes', 'Delete without asking again')
    .action(async (options: ServiceOptions) => await uninstall(options, context));
  sub('status', 'Show whether the service is installed and answers').action(
    async (options: ServiceOptions) => await status(options, context),
  );
  dry(
    sub(
      'allow-write',
      'Let the service write to a directory (Linux, Windows): a destination or a restore target',
    ),
  )
    .argument('<dir>', 'an existing directory')
    .action(
      async (directory: string, options: ServiceOptions) => await allowWrite(directory, options, context),
    );
  addExamples(command, [
    [sudoHoldfast`service install --user`, 'keep backups running without a terminal (macOS: without sudo)'],
    [sudoHoldfast`service install --system`, 'for all users of this machine'],
    [holdfast`service install --dry-run`, 'see every file and command beforehand'],
  ]);
}

async function chosenLayout(options: ServiceOptions, { env, signal }: Context): Promise<Layout> {
  const { platform } = process;
  const isPersonal = options.user === true || options.for !== undefined;
  if (isPersonal && options.system === true)
    throw usage(
      '--system is for the whole machine, --user and --for are for one user',
      'Use only one of them.',
    );
  if (options.for !== undefined && platform !== 'linux')
    throw usage('--for works on Linux only', 'Run the command as that user, with --user.');
  const isRoot = process.getuid?.() === 0 || platform === 'win32';
  const usual: Scope = isRoot ? 'system' : 'user';
  const scope = options.system === true ? 'system' : isPersonal ? 'user' : usual;
  if (scope === 'system' || platform !== 'linux') return layoutOf(scope, env, platform);
  return layoutOf(scope, env, platform, await chosenPerson(options.for, env, signal));
}

/** Units belong to root, including those of one person. @throws {RequestError} with the command to run instead */
function requireRoot({ person, state }: Layout, options: ServiceOptions): void {
  if (person === undefined || process.getuid?.() === 0) return;
  if (options.dryRun === true || options.print === true) return;
  const [, , ...typed] = process.argv;
  const words = options.user === true || options.for !== undefined ? typed : [...typed, '--user'];
  // Root does not have the person's environment.
  const set = state === usualState(person.home) ? [] : ['env', `HOLDFAST_STATE_DIR=${state}`];
  const command = ['sudo', ...set, ...programForSudo(), ...words].map(quoted).join(' ');
  throw new RequestError('FORBIDDEN', 'On Linux only root can change a service, even one for a single user', {
    hint: `Run: ${command} (docs/service.md explains what to do without an administrator)`,
  });
}

async function install(options: ServiceOptions, context: Context): Promise<void> {
  const patience = patienceOf(options);
  const layout = await chosenLayout(options, context);
  requireRoot(layout, options);
  // Text that is only printed may be for another machine.
  if (options.print !== true) await requireNoPackage(layout);
  if (layout.person !== undefined) await requireHome(layout.person);
  const start = options.start !== false;
  const steps = await installSteps(layout, {
    start,
    runtime: process.execPath,
    known: await isKnownToWindows(layout, context),
    stamp: new Date(context.clock.now()).toISOString().replaceAll(/\D/g, '').slice(0, 14),
  });
  if (options.print === true) {
    for (const step of steps)
      if (step.kind === 'write') await context.out.write(`# ${step.path}\n${step.content}\n`);
    return;
  }
  await work(steps, options, context);
  if (options.dryRun === true || !start) return;
  const agent = await waitForAgent(layout.state, patience, context);
  const { out } = context;
  if (options.json === true) {
    await out.json({ type: 'service', scope: layout.scope, installed: true, running: true, ...agent });
    return;
  }
  await out.line(`The agent is running: ${agent.addresses.map(printable).join(', ') || 'it answers'}`);
  if (layout.person !== undefined)
    await out.line(`See its status, as ${printable(layout.person.name)}, with: ${holdfast`status`}`);
  else if (layout.platform === 'win32')
    await out.line(
      `See its status, as administrator and with HOLDFAST_STATE_DIR=${printable(layout.state)}: ${holdfast`status`}`,
    );
  else if (layout.scope === 'system') await out.line(`See its status with: ${sudoHoldfast`status`}`);
}

function patienceOf({ timeout }: ServiceOptions): number {
  const seconds = Number(timeout ?? PATIENCE_SECONDS);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  throw usage(`"${timeout}" is not a number of seconds`, 'Use --timeout 60, for example.');
}

async function isKnownToWindows({ platform }: Layout, { env, signal }: Context): Promise<boolean> {
  return platform === 'win32' && (await windowsServiceState(windowsPlaces(), env, signal)) !== undefined;
}

async function uninstall(options: ServiceOptions, context: Context): Promise<void> {
  const layout = await asInstalled(await chosenLayout(options, context));
  const purge = options.purge === true;
  if (purge) await requireKnownState(layout, context.env);
  requireRoot(layout, options);
  if ((await installedUnit(layout)) !== layout.unit) await requireNoPackage(layout);
  if (purge && options.yes !== true && options.dryRun !== true) {
    throw usage(
      `--purge permanently deletes ${layout.state}, including keys and any repository in it`,
      'See what it would delete with --dry-run. If that is what you want, add --yes.',
    );
  }
  const known = await isKnownToWindows(layout, context);
  await work(uninstallSteps(layout, { purge, known }), options, context);
  if (options.dryRun === true) return;
  if (options.json === true)
    await context.out.json({ type: 'service', scope: layout.scope, installed: false });
  else if (!purge) await context.out.line(`Settings, keys and backups are kept: ${printable(layout.state)}`);
}

/** Shows all steps, then does them. */
async function work(steps: readonly Step[], options: ServiceOptions, context: Context): Promise<void> {
  const { out, stderr, env, signal } = context;
  const say = async (line: string): Promise<void> => {
    if (options.json === true) stderr.write(`${line}\n`);
    else await out.line(line);
  };
  await say(options.dryRun === true ? 'Would do:' : 'To do:');
  for (const step of steps) {
    const note = (await isNeeded(step)) ? '' : ' (nothing to do)';
    await say(`  ${printable(shownStep(step))}${note}`);
  }
  if (options.dryRun === true) return;
  await out.flush();
  for (const step of steps) {
    const { failure } = await doStep(step, env, signal);
    if (failure !== '') await say(`  Note: ${printable(shownStep(step))}: ${printable(failure)}`);
  }
}

async function status(options: ServiceOptions, context: Context): Promise<void> {
  const { out, env, signal } = context;
  const layout = await asInstalled(await chosenLayout(options, context));
  const found = await installedUnit(layout);
  const [installed, unit] = [found !== undefined, found ?? layout.unit];
  const isLinux = layout.platform === 'linux';
  const asked = async (verb: string): Promise<string | null> =>
    isLinux ? ((await outputOf(['systemctl', verb, unitName(layout)], env, signal)) ?? null) : null;
  const [enabled, active] =
    layout.platform === 'win32'
      ? [null, (await windowsServiceState(windowsPlaces(), env, signal))?.toLowerCase() ?? null]
      : [await asked('is-enabled'), await asked('is-active')];
  const seen = await visibleAgent(layout, signal);
  const agent = seen === 'hidden' ? undefined : seen;
  if (agent === undefined || !installed) context.exitCode = 1;
  if (options.json === true) {
    const facts = { scope: layout.scope, unit, installed, enabled, active };
    await out.json({
      type: 'service',
      ...facts,
      running: seen === 'hidden' ? null : agent !== undefined,
      agent: agent ?? null,
    });
    return;
  }
  await out.line(
    installed
      ? `Installed  ${printable(unit)}${enabled === null ? '' : ` (${printable(enabled)})`}`
      : `Not installed. To install it: ${installCommand(env)}`,
  );
  if (active !== null) await out.line(`Service    ${printable(active)}`);
  await out.line(
    seen === 'hidden'
      ? layout.platform === 'win32'
        ? 'Agent      this user has no access to it: run the command as administrator'
        : 'Agent      this user has no access to it: run the command with sudo, or as the user of the agent'
      : agent === undefined
        ? 'Agent      does not answer'
        : `Agent      answers${agent.pid === null ? '' : ` (process ${agent.pid})`}: ${agent.addresses.map(printable).join(', ')}`,
  );
}

/** The running agent; `hidden` when it runs but this user may not ask it. */
async function visibleAgent(
  { state }: Layout,
  signal: AbortSignal,
): Promise<RunningAgent | 'hidden' | undefined> {
  try {
    return await runningAgent(state, signal);
  } catch (error) {
    if (error instanceof StateError && error.code === 'FORBIDDEN') return 'hidden';
    throw error;
  }
}

async function allowWrite(named: string, options: ServiceOptions, context: Context): Promise<void> {
  const layout = await chosenLayout(options, context);
  const { person } = layout;
  if (layout.platform === 'win32') {
    await allowWriteOnWindows(resolve(named), options, context);
    return;
  }
  if (layout.platform !== 'linux') {
    await context.out.line(
      'Nothing to do: only on Linux and Windows does the service need to be allowed to write.',
    );
    return;
  }
  if (person !== undefined && !(await exists(layout.unit))) throw notInstalled(person.name);
  requireRoot(layout, options);
  const directory = resolve(named);
  await requireDirectory(directory);
  const file = allowWriteFile(layout);
  const before = (await readFileIfPresent(file))?.toString('utf8') ?? '';
  const points = await mountPoints();
  const real = await resolved(directory);
  const place = writablePlace(real, points);
  // The unit names a symbolic link as it was given, as the link may lead elsewhere one day.
  const placeOf = (named: string): string =>
    named === directory ? (place === real ? directory : place) : writablePlace(named, points);
  const content = allowWriteText(before, directory, placeOf);
  const reload = content === before ? [] : [{ kind: 'run' as const, words: ['systemctl', 'daemon-reload'] }];
  const again = reload.map(({ kind }) => ({ kind, words: ['systemctl', 'try-restart', unitName(layout)] }));
  await work([{ kind: 'write', path: file, content, mode: 0o644 }, ...reload, ...again], options, context);
  if (options.dryRun === true) return;
  if (options.json === true)
    await context.out.json({ type: 'allow_write', directory, allowed: placeOf(directory), file });
  else {
    const user = printable(person?.name ?? 'holdfast');
    await context.out.line(
      `The service can now write to ${printable(directory)} if the user "${user}" can: check its owner and permissions.`,
    );
    if (place !== real && place !== directory)
      await context.out.line(
        `This allows all of ${printable(place)}, where the disk is mounted, so that the disk can be unmounted while the agent runs.`,
      );
  }
}

async function allowWriteOnWindows(
  directory: string,
  options: ServiceOptions,
  context: Context,
): Promise<void> {
  await requireDirectory(directory);
  await work([windowsAllowWrite(windowsPlaces(), directory)], options, context);
  if (options.dryRun === true) return;
  if (options.json === true)
    await context.out.json({ type: 'allow_write', directory, allowed: directory, file: null });
  else await context.out.line(`The service can now write to ${printable(directory)} and everything in it.`);
}

function notInstalled(name: string): RequestError {
  return new RequestError('NOT_INSTALLED', `There is no service for ${printable(name)}`, {
    hint: `Install it first: ${sudoHoldfast`service install --user`}. For the service of the whole machine use --system.`,
  });
}

async function requireDirectory(directory: string): Promise<void> {
  if (directory === '/' || /[\n\r]/.test(directory))
    throw refused(`${printable(directory)} cannot be allowed`);
  try {
    if ((await stat(join(directory, '.'))).isDirectory()) return;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
  }
  throw refused(`${printable(directory)} is not a directory`);
}

function refused(message: string): RequestError {
  return new RequestError('INVALID_TARGET', message, {
    hint: 'Give the directory of a destination, or one to restore into. It must exist.',
  });
}

async function exists(path: string): Promise<boolean> {
  return (await readFileIfPresent(path)) !== undefined;
}

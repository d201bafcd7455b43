/** `holdfast start` without `--once`: the agent, in the foreground until it is told to end. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { callProgram, holdfast, programName } from '../../base/holdfast-command.ts';
import { createLog } from '../../base/log.ts';
import { NAMED_BY, withProgram } from '../../base/program-call.ts';
import { programVersion } from '../../base/program-version.ts';
import { createRedactor } from '../../base/redact.ts';
import { quoted } from '../../base/shell-words.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import { editConfig } from '../../config/config-edit.ts';
import { defaultSettings } from '../../config/effective-settings.ts';
import { holdsBackups, shownDestination } from '../../config/embedded-repository.ts';
import { NO_FILE, readConfig } from '../../config/load.ts';
import type { DestinationSettings, Settings } from '../../config/settings.ts';
import type { Daemon } from '../../daemon/daemon-options.ts';
import { startDaemon } from '../../daemon/daemon.ts';
import { cannotRun } from '../../daemon/state/disk.ts';
import { requirePrivateState } from '../../daemon/state/private-state.ts';
import { notOpenedByKit, otherKeysText } from '../../daemon/places/other-keys.ts';
import { createSystemNotifier } from '../../daemon/system-notify.ts';
import { directoryOf, parseLocation, shownPlace } from '../../destination/location.ts';
import type { Job } from '../../jobs/job.ts';
import { forbidCoreFiles, forgetVariables } from '../../system/memory-secrets.ts';
import { unmountedAt } from '../../system/unmounted.ts';
import type { ServiceHost } from '../../system/windows-control.ts';
import { jobObject } from '../agent/ask-agent.ts';
import { stateWords } from '../agent/listing-jobs.ts';
import { type Context, programAtTerminal } from '../command/context.ts';
import { EXIT, exitCodeOf } from '../command/exit-codes.ts';
import { isHungUp } from '../command/interrupt.ts';
import { usage } from '../command/options.ts';
import { configFile, ensureStateDirectory, readMachineKey, statePaths } from '../command/state-directory.ts';
import { prepareEmbedded } from '../places/embedded-thread.ts';
import { settingsContext } from '../places/settings-file.ts';
import { changesToBegin, startPlace, type StartPlace } from '../settings/start-place.ts';
import { createStyles, jsonLine, printable, wantsColor } from '../terminal/terminal.ts';
import { startLoggingWaits } from '../terminal/told-waits.ts';
import { count } from '../terminal/wording.ts';
import { openAgentLog } from './agent-log.ts';
import { programOfAgent } from './program-of-agent.ts';

export interface RunAgentOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly port: number | undefined;
  readonly config: string | undefined;
  /** Added to the settings, and backed up at once. */
  readonly sources: readonly string[];
  readonly destination: string | undefined;
}

/** The signal also means "read the settings" elsewhere, so that an end at it has to be explained. */
const HUNG_UP = 'the agent ends: its terminal was closed, or it was sent SIGHUP';

/** Milliseconds between two lines of progress. */
const STEP_MS = 500;

/** Runs until the context's signal aborts. @throws {StateError} {ConfigError} when the agent cannot begin */
export async function runAgent(options: RunAgentOptions, context: Context): Promise<void> {
  const service = await windowsService(context);
  try {
    await beginAndRun(options, context, service);
    service?.stopped(EXIT.ok);
  } catch (error) {
    service?.stopped(exitCodeOf(error));
    throw (await cannotRun(error, statePaths(context.env).directory)) ?? error;
  }
}

async function beginAndRun(
  options: RunAgentOptions,
  context: Context,
  service: ServiceHost | undefined,
): Promise<void> {
  const { env, clock, signal, stderr } = context;
  // The agent goes on if its greeting cannot be written: a full disk must not stop backups.
  context.out.goOnWithout();
  const paths = statePaths(env);
  forbidCoreFiles();
  await ensureStateDirectory(paths.directory);
  // Checked before anything in the directory is read or written.
  await requirePrivateState(paths.directory);
  const file = configFile(options.config, env);
  const { own, forAnybody } = programOfAgent(file, env);
  callProgram(own, forAnybody);
  const created = await prepareEmbedded(context);
  await addSources(file, options, context);
  // Without a terminal the log is printed as well, as a service manager may collect it.
  const also = stderr.isTTY ? undefined : (line: string): void => void stderr.write(line);
  using target = openAgentLog(paths.directory, options.quiet ? undefined : also, clock);
  const redactor = createRedactor();
  const log = createLog('info', target, redactor.redact);
  const waits = startLoggingWaits(
    (text) => log.info(text),
    () => clock.monotonic(),
  );
  await using notifier = createSystemNotifier(env, {
    clock,
    trouble: (error) => log.warn({ err: error }, 'the service manager could not be notified'),
  });
  const daemon = await startDaemon({
    stateDirectory: paths.directory,
    configFile: file,
    configRequired: options.config !== undefined,
    port: options.port,
    version: programVersion(),
    // Engines name commands in their messages as the agent does.
    environment: { ...withoutServiceManager(env), [NAMED_BY]: programName() },
    clock,
    log,
    redactor,
    forget: (names) => forgetVariables(env, names),
    machineKey: async () => {
      const key = await readMachineKey(paths);
      if (key !== undefined) return key;
      throw new RepositoryError('WRONG_PASSPHRASE', `The machine key ${paths.machineKey} is missing`, {
        hint: 'Restore it from a copy, or open the repository with the recovery kit.',
      });
    },
    now: options.sources,
  });
  try {
    void notifier.ready(`Listening on port ${daemon.listening.port}`);
    service?.running();
    await greet(daemon, { created, file }, options, context);
    for (const job of daemon.firstJobs) await showJob(daemon, job, options, context);
    if (!signal.aborted) await once(signal, 'abort');
    if (isHungUp(signal)) log.info(HUNG_UP);
  } finally {
    void notifier.stopping();
    service?.stopping();
    await daemon[Symbol.asyncDispose]();
    waits.end();
  }
}

/** The environment without the variables by which children could notify the service manager: engines and hooks must not. */
function withoutServiceManager(env: Context['env']): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:NOTIFY_SOCKET|WATCHDOG_|HOLDFAST_WINDOWS_SERVICE$)/.test(name),
    ),
  );
}

/** @throws {RequestError} for an unknown destination */
async function addSources(
  file: string,
  { sources, destination }: RunAgentOptions,
  { env, signal }: Context,
): Promise<void> {
  if (sources.length === 0) {
    if (destination === undefined) return;
    throw usage(
      '--destination needs --source, which says what to back up',
      `Add --source DIR. To change the default destination: ${holdfast`config set defaultDestination NAME`}`,
    );
  }
  const settings = settingsContext(env);
  const loaded = await readConfig(file, settings);
  const current = loaded?.settings ?? defaultSettings(settings);
  const place = destination === undefined ? undefined : startPlace(destination, current);
  const changes = changesToBegin(sources, place, current);
  if (changes.length === 0) return;
  if (place?.isNew === true) requireMounted(place, sources);
  await editConfig({ file, context: settings }, changes, loaded?.revision ?? NO_FILE, signal);
}

/** @throws {DestinationError} where a disk or share is missing: backups would fill the disk of the system */
function requireMounted({ name, url }: StartPlace, [source = '']: readonly string[]): void {
  const directory = directoryOf(url);
  const point = directory === undefined ? undefined : unmountedAt(directory);
  if (directory === undefined || point === undefined) return;
  throw new DestinationError('unreachable', `Nothing seems to be mounted at ${point}`, {
    op: 'open',
    hint: `Connect and mount the disk or share first. To have backups wait for it: ${holdfast`destinations add ${name} ${directory} --untested`}, then ${holdfast`start --source ${source} --destination ${name}`}`,
  });
}

async function greet(
  daemon: Daemon,
  { created, file }: { readonly created: boolean; readonly file: string },
  options: RunAgentOptions,
  context: Context,
): Promise<void> {
  const { out, stderr, env } = context;
  const address = `http://127.0.0.1:${daemon.listening.port}`;
  if (options.json) {
    await out.json({ type: 'ready', address, pid: process.pid });
    await out.flush();
    return;
  }
  if (options.quiet) {
    // Shown even with --quiet, as the recovery kit has to be put away.
    if (created) stderr.write(`${kitText(env, daemon.config.current, String)}\n`);
    return;
  }
  const { bold } = createStyles(wantsColor(out.stream, env));
  const settings = daemon.config.current;
  const lines = [`${bold('Holdfast is running')} at ${address} (documentation: ${address}/docs)`];
  for (const { name, url } of placesOf(options.sources, settings))
    lines.push(
      `  Backups in    ${printable(shownPlace(parseLocation(url)))} (${shownDestination(name, settings)})`,
    );
  // Also at later starts: the first one may have been ended before it came to this.
  if (existsSync(statePaths(env).recoveryKit)) lines.push(kitText(env, settings, bold));
  // Unlike later messages of the agent, this one is read where the agent was started.
  const isHere = out.stream.isTTY;
  const run = isHere ? programAtTerminal(context) : programName();
  const [source, ...others] = settings.sources;
  if (source !== undefined) {
    const more = others.length === 0 ? '' : ` and ${count(others.length, 'more', 'more')}`;
    lines.push(`  Backs up      ${printable(source.path)}${more}`);
  } else
    lines.push(
      `Nothing is backed up yet. The page in the browser leads through the first backup; without it: ${withProgram(run, 'sources add DIR')}`,
    );
  // Only at a terminal: the output of a service is kept, and the address opens the page for anybody who reads it.
  if (created && out.stream.isTTY) {
    const { address: page, seconds } = daemon.pageAddress(null);
    lines.push(
      `  Open your backups in a browser with this link, which works once, within ${seconds} seconds: ${page}`,
    );
  }
  lines.push(`  Open your backups in a browser with: ${withProgram(run, 'ui')}`);
  const where = repositoryOption(options.sources, settings);
  // Commands read only the usual configuration unless they are told otherwise.
  const other = isHere && options.config !== undefined ? `HOLDFAST_CONFIG=${printable(quoted(file))} ` : '';
  const reading = `${other}${run}`;
  const hasAny = placesOf(options.sources, settings).some((place) => mayHoldBackups(place, env));
  // Without backups and sources there is nothing to bring back.
  if (!hasAny && settings.sources.length === 0) return await sayAll(lines, out);
  lines.push(
    `  ${hasAny ? 'Restore' : 'After the first backup, restore'} files with: ${reading} restore${where} latest --target DIR (list snapshots: ${reading} snapshots${where})`,
  );
  await sayAll(lines, out);
}

async function sayAll(lines: readonly string[], out: Context['out']): Promise<void> {
  await out.write(`${lines.join('\n')}\n`);
  await out.flush();
}

/** Whether a destination may hold backups. A remote one, or one whose directory is missing, may. */
function mayHoldBackups({ url }: DestinationSettings, env: Context['env']): boolean {
  const paths = statePaths(env);
  const directory = directoryOf(url);
  if (directory === paths.repository) return holdsBackups(paths.directory);
  return directory === undefined || !existsSync(directory) || existsSync(join(directory, 'snapshots'));
}

/** Where there are backups that the kit does not open, whoever threw away what does would be locked out. */
function kitText(env: Context['env'], settings: Settings, stress: (text: string) => string): string {
  const others = notOpenedByKit(settings);
  const what = others.length === 0 ? 'the backups' : 'what this computer stores elsewhere';
  const why = [
    `Keep the recovery kit somewhere else: without it, nobody can open ${what} if this machine is lost. Then delete the file to stop this reminder.`,
    otherKeysText(others.map((name) => shownDestination(name, settings))),
  ].filter((text) => text !== '');
  return `  Recovery kit  ${printable(statePaths(env).recoveryKit)}\n${why.map((text) => stress(`  ${text}`)).join('\n')}`;
}

/** The destinations of the named sources; the default destination if none was named. */
function placesOf(
  sources: readonly string[],
  { sources: all, destinations, defaultDestination }: Settings,
): readonly DestinationSettings[] {
  const named = all.filter(({ path }) => sources.includes(path)).flatMap((source) => source.destinations);
  const names = new Set(named.length === 0 ? [defaultDestination] : named);
  return destinations.filter(({ name }) => names.has(name));
}

/** The option by which a command finds the backups of the named sources; empty if the default destination has them. */
function repositoryOption(sources: readonly string[], settings: Settings): string {
  const [first, ...others] = placesOf(sources, settings).map(({ name }) => name);
  const isDefault = [first, ...others].includes(settings.defaultDestination);
  return first === undefined || isDefault ? '' : ` -r ${first}`;
}

async function showJob(
  { agent }: Daemon,
  first: Job,
  options: RunAgentOptions,
  { out, stderr, signal }: Context,
): Promise<void> {
  let job = first;
  while (job.finished_at === null && !signal.aborted) {
    job = await agent.waitFor(job.id, STEP_MS, signal).catch(() => job);
    if (stderr.isTTY && !options.json && !options.quiet) stderr.write(`\r\u001b[2K${lineOf(job)}`);
  }
  if (stderr.isTTY && !options.json && !options.quiet) stderr.write('\r\u001b[2K');
  if (options.json) out.stream.write(jsonLine(jobObject(job)));
  else if (!options.quiet) await out.write(`${endOf(job)}\n`);
  else if (job.status !== 'completed' || job.result === 'warning') stderr.write(`${endOf(job)}\n`);
  await out.flush();
}

function lineOf(job: Job): string {
  const { progress } = job;
  const eta = progress.eta_seconds === null ? '' : `, ${formatDuration(progress.eta_seconds * 1000)} left`;
  return `${printable(subjectOf(job))}: ${stateWords(job)}, ${count(job.files_done, 'file')}, ${formatBytes(job.size_bytes)}${eta}`;
}

function endOf(job: Job): string {
  if (job.finished_at === null)
    return `The backup of ${printable(subjectOf(job))} was interrupted before it made a snapshot. It continues when the agent starts again, and reuses what is already stored.`;
  if (job.status !== 'completed') {
    return printable(
      `${subjectOf(job)}: ${stateWords(job)}${job.error === null ? '' : `. ${job.error.message}`}`,
    );
  }
  const words = job.result === 'warning' ? ` with ${count(job.warnings_count, 'warning')}` : '';
  return `Backed up ${count(job.files_done, 'file')} (${formatBytes(job.size_bytes)}) from ${printable(subjectOf(job))} in ${formatDuration(job.duration_ms)}${words}. The agent keeps watching; stop it with Ctrl-C.`;
}

function subjectOf({ spec }: Job): string {
  return spec.type === 'backup' ? spec.source : spec.destination;
}

export type { ServiceHost } from '../../system/windows-control.ts';

/** Set by service/windows/service.js to the name of the service. */
const STARTED_AS = 'HOLDFAST_WINDOWS_SERVICE';

/**
 * Connects an agent that the service manager of Windows has started to that manager. Undefined for an agent that
 * somebody started in another way.
 */
async function windowsService({ env, stderr }: Context): Promise<ServiceHost | undefined> {
  const name = env[STARTED_AS] ?? '';
  if (process.platform !== 'win32' || name === '') return undefined;
  const { connectToServiceManager, enableBackupPrivilege } = await import('../../system/windows-control.ts');
  const host = connectToServiceManager(
    name,
    // Ends the agent as Ctrl-C does.
    () => void process.emit('SIGTERM'),
    (error) => void stderr.write(`${error.message}\n${error.hint}\n`),
  );
  // Engines are children, and take it over. Without it the service reads what its account may read.
  enableBackupPrivilege();
  return host;
}

import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { holdfast } from '../../base/holdfast-command.ts';
import { directoryOf } from '../../destination/location.ts';
import type { Context } from '../command/context.ts';
import { knownDestinations } from '../agent/ask-agent.ts';
import { checkAgent, checkProtection, checkWatching, unwatchedSources } from './agent.ts';
import { checkPort } from '../install/port.ts';
import { checkDesktop } from '../../daemon/doctor/desktop.ts';
import { guarded, type Finding } from '../../daemon/doctor/finding.ts';
import { writeBundle } from './bundle.ts';
import { checkKeyDrill, checkRestoreDrill } from './drills.ts';
import { notOpenedByKit } from '../../daemon/places/other-keys.ts';
import { sameDiskFindings } from '../../daemon/doctor/try-destination.ts';
import { checkNative } from './native.ts';
import { checkClock, checkRecoveryKit, checkRuntime, checkSpace } from '../../daemon/doctor/machine.ts';
import { checkPartner } from './partner.ts';
import { checkNewestVersion, checkRunningVersion } from '../../daemon/doctor/versions.ts';
import { checkOtherPlaces, checkRepository, checkSettings, checkState, witnessesOf } from './place.ts';
import { EXIT } from '../command/exit-codes.ts';
import type { RunningAgent } from '../install/readiness.ts';
import { windowsPlaces } from '../install/windows-steps.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { configFile, statePaths } from '../command/state-directory.ts';
import { createStyles, printable, wantsColor } from '../terminal/terminal.ts';
import { shownDestination } from '../../config/embedded-repository.ts';
import type { Settings } from '../../config/settings.ts';

interface DoctorOptions extends OutputOptions {
  readonly config?: string;
  readonly bundle?: string;
}

export function define(command: Command, context: Context): void {
  command.option('--config <file>', 'Use this file instead of config.json in the state directory');
  command.option(
    '--bundle <file>',
    'Also write a report for support: findings, settings, jobs and log, without secrets',
  );
  addOutputOptions(command, { json: 'The findings as one JSON object' });
  command.addHelpText(
    'after',
    '\nOnly looks; changes nothing. The exit code is 1 if something does not work.\nA bundle contains paths of your files.',
  );
  addExamples(command, [
    [holdfast`doctor`, 'see what works, what does not, and what to do'],
    [holdfast`doctor --bundle report.txt`, 'also write a report to send to whoever helps you'],
  ]);
  command.action(async (options: DoctorOptions) => {
    const { findings, agentRuns } = await examine(options, context);
    const healthy = findings.every(({ status }) => status !== 'error');
    if (!healthy) context.exitCode = EXIT.failed;
    const { config, bundle } = options;
    const written =
      bundle === undefined
        ? undefined
        : await writeBundle({ file: bundle, config, findings, agentRuns }, context);
    if (options.json === true) await context.out.json({ type: 'doctor', healthy, findings, bundle: written });
    else {
      await showFindings(findings, context);
      if (written !== undefined)
        await context.out.line(
          `Read through ${printable(written)} before you send it: it contains paths of your files.`,
        );
    }
  });
}

interface Examination {
  readonly findings: readonly Finding[];
  readonly agentRuns: boolean;
}

/** Runs every check in order, as a later one may need what an earlier one found. */
async function examine(options: DoctorOptions, context: Context): Promise<Examination> {
  const { env, clock, signal } = context;
  const paths = statePaths(env);
  const findings: Finding[] = [
    checkRuntime(process.versions.node),
    await guarded('native modules', checkNative),
    await guarded('state directory', async () => await checkState(env)),
  ];
  let settings: Settings | undefined;
  findings.push(
    await guarded('configuration', async () => {
      const named = options.config !== undefined;
      const checked = await checkSettings(configFile(options.config, env), named, env);
      settings = checked.settings;
      return checked.finding;
    }),
    await guarded('disk space', async () => await checkSpace('disk space', paths.directory)),
  );
  let agent: RunningAgent | undefined;
  findings.push(
    await guarded('agent', async () => {
      const checked = await checkAgent(env, signal);
      agent = checked.agent;
      return checked.finding;
    }),
  );
  if (agent !== undefined && agent.version !== '') findings.push(checkRunningVersion(agent.version));
  const newest = settings?.updates.url ?? null;
  if (newest !== null)
    findings.push(await guarded('updates', async () => await checkNewestVersion(newest, signal)));
  if (settings !== undefined) findings.push(...(await examineSettings(settings, agent, context)));
  if (agent !== undefined) {
    findings.push(await guarded('restore drill', async () => await checkRestoreDrill(context)));
    const partner = await guarded('partner', async () => await checkPartner(context));
    if (partner !== undefined) findings.push(partner);
  }
  const others = settings === undefined ? [] : notOpenedByKit(settings);
  findings.push(
    await guarded('recovery kit', async () => await checkRecoveryKit(paths.recoveryKit, others)),
    await guarded('key drill', async () => await checkKeyDrill(context)),
    await guarded('clock', async () => await checkClock(clock.now(), witnessesOf(env))),
  );
  return { findings, agentRuns: agent !== undefined };
}

async function examineSettings(
  settings: Settings,
  agent: RunningAgent | undefined,
  context: Context,
): Promise<readonly Finding[]> {
  const known = new Map(
    ((await knownDestinations(context)) ?? []).flatMap(({ name, repository_id: id }): [string, string][] =>
      id ? [[name, id]] : [],
    ),
  );
  const findings: Finding[] = [
    await guarded('repository', async () => await checkRepository(settings, known, context)),
    ...(await checkOtherPlaces(settings, known, context)),
    await guarded('port', async () => await checkPort(settings.listen.port, agent)),
  ];
  if (agent !== undefined)
    findings.push(await guarded('backups', async () => await checkProtection(context)));
  for (const { name, url } of settings.destinations) {
    const directory = directoryOf(url);
    if (directory === undefined || !existsSync(directory)) continue;
    const check = `space on ${shownDestination(name, settings)}`;
    findings.push(await guarded(check, async () => await checkSpace(check, directory, name)));
  }
  const place = settings.destinations.find(({ name }) => name === settings.defaultDestination);
  const directory = place === undefined ? undefined : directoryOf(place.url);
  if (directory !== undefined)
    findings.push(
      ...sameDiskFindings(
        directory,
        settings.sources.map(({ path }) => path),
      ),
    );
  if (settings.notices.desktop) findings.push(checkDesktop(isOfWindowsService(context.env)));
  const watched = settings.sources.filter(({ watch, poll }) => watch && !poll).map(({ path }) => path);
  findings.push(
    await guarded('watching', async () => {
      const missed =
        agent === undefined ? [] : await unwatchedSources(statePaths(context.env), context.signal);
      return await checkWatching(watched, missed, context);
    }),
  );
  return findings;
}

function isOfWindowsService(env: Context['env']): boolean {
  if (process.platform !== 'win32') return false;
  return statePaths(env).directory.toLowerCase() === windowsPlaces().state.toLowerCase();
}

/** Shows one aligned line for each finding. */
export async function showFindings(findings: readonly Finding[], { out, env }: Context): Promise<void> {
  const styles = createStyles(wantsColor(out.stream, env));
  const marks = {
    ok: styles.green('ok     '),
    warning: styles.yellow('warning'),
    error: styles.red('ERROR  '),
  };
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, status, message, hint } of findings) {
    const advice = hint === '' ? '' : ` -> ${printable(hint)}`;
    await out.line(`${marks[status]}  ${check.padEnd(width)}  ${printable(message)}${advice}`);
  }
}

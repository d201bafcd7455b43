/** Checks the state directory, the settings, and the repository. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { accessProblem } from '../../base/private-files.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { ConfigError } from '../../config/config-error.ts';
import { loadConfig, NO_FILE, readConfig, requireNeverThere } from '../../config/load.ts';
import type { DestinationSettings, Settings } from '../../config/settings.ts';
import { directoryOf, parseLocation, shownPlace } from '../../destination/location.ts';
import { requirePrivateState } from '../../daemon/state/private-state.ts';
import { settingsContext } from '../places/settings-file.ts';
import type { Context } from '../command/context.ts';
import { checkOpening, lookAt, noLongerThere } from '../places/destination-look.ts';
import { readMachineKey, requireWritable, statePaths } from '../command/state-directory.ts';
import type { Environment } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';
import { type Finding, guarded, ok, problem, warning } from '../../daemon/doctor/finding.ts';
import { isThere } from '../../system/where-it-lies.ts';

export async function checkState(env: Environment): Promise<Finding> {
  const paths = statePaths(env);
  if (!(await isThere(paths.directory)))
    return warning(
      'state directory',
      `${paths.directory} does not exist yet`,
      `The first start creates it: ${holdfast`start`}`,
    );
  const { uid } = await stat(paths.directory);
  if (process.geteuid !== undefined && uid !== process.geteuid())
    return problem(
      'state directory',
      `${paths.directory} belongs to another user (uid ${uid})`,
      'Run this as that user, or set HOLDFAST_STATE_DIR to a directory of your own.',
    );
  await requireWritable(paths.directory);
  await readMachineKey(paths);
  const onWindows = accessProblem(paths.directory, 'directory');
  if (onWindows !== undefined) {
    const judge = onWindows.kind === 'read' ? warning : problem;
    return judge('state directory', `${paths.directory} ${onWindows.text}`, `Run: ${onWindows.command}`);
  }
  // The agent refuses to start with anything in it that is open to others.
  await requirePrivateState(paths.directory);
  return ok('state directory', `${paths.directory} is private`);
}

export async function checkSettings(
  file: string,
  named: boolean,
  env: Environment,
): Promise<{ readonly finding: Finding; readonly settings: Settings | undefined }> {
  const check = 'configuration';
  try {
    const context = settingsContext(env);
    const loaded = await readConfig(file, context);
    if (loaded === undefined) await requireNeverThere(file, context.stateDirectory);
    if (loaded === undefined && named) {
      const finding = problem(check, `${file} does not exist`, 'Check the spelling.');
      return { finding, settings: undefined };
    }
    const { settings } = loaded ?? loadConfig(file, Buffer.from('{}'), context);
    const { sources, destinations } = settings;
    const holds =
      (loaded?.revision ?? NO_FILE) === NO_FILE
        ? `${file} does not exist: all defaults apply`
        : `${file} is valid: ${count(sources.length, 'source')}, ${count(destinations.length, 'destination')}`;
    if (sources.length === 0)
      return {
        finding: warning(
          check,
          `${holds}; nothing is backed up automatically`,
          `Choose a directory: ${holdfast`sources add DIR`}`,
        ),
        settings,
      };
    return { finding: ok(check, holds), settings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [first] = error.problems;
    const finding =
      first === undefined
        ? problem(check, error.message, error.hint)
        : problem(check, `${file}:${first.line}:${first.column}: ${first.message}`, first.hint);
    return { finding, settings: undefined };
  }
}

/** The ids of repositories by the names of their destinations, as far as the running agent knows them. */
export type KnownIds = ReadonlyMap<string, string>;

/** Checks that the repository that backups go to opens with its key. */
export async function checkRepository(
  settings: Settings,
  known: KnownIds,
  context: Context,
): Promise<Finding> {
  const check = 'repository';
  const { defaultDestination, destinations } = settings;
  const place = destinations.find(({ name }) => name === defaultDestination);
  if (place === undefined)
    return problem(
      check,
      `There is no destination ${defaultDestination}`,
      `Choose an existing one: ${holdfast`config set defaultDestination NAME`}`,
    );
  const directory = directoryOf(place.url);
  const paths = statePaths(context.env);
  const isEmbedded = directory === paths.repository;
  if (isEmbedded && !(await isThere(paths.repositoryId)) && !(await isThere(paths.repository)))
    return warning(check, 'None yet', `The first start creates it: ${holdfast`start --source DIR`}`);
  return await checkOpening(check, place, known.get(place.name), context);
}

/** Checks the other destinations of the settings: their backups are of use only while they can be opened. */
export async function checkOtherPlaces(
  settings: Settings,
  known: KnownIds,
  context: Context,
): Promise<readonly Finding[]> {
  const others = settings.destinations.filter(({ name }) => name !== settings.defaultDestination);
  const findings: Finding[] = [];
  for (const place of others) {
    const check = place.url === settings.embedded.url ? 'earlier backups' : `destination ${place.name}`;
    findings.push(
      await guarded(check, async () => await checkOther(check, place, known.get(place.name), context)),
    );
  }
  return findings;
}

async function checkOther(
  check: string,
  place: DestinationSettings,
  remembered: string | undefined,
  context: Context,
): Promise<Finding> {
  const shown = shownPlace(parseLocation(place.url));
  const { state, problem: text } = await lookAt(place, undefined, context);
  const test = `Test it with: ${holdfast`destinations test ${place.name}`}`;
  if (state === 'empty' && remembered !== undefined) return noLongerThere(check, shown, remembered);
  if (state === 'empty') return ok(check, `${shown} is available, not used yet`);
  if (state === 'missing' && place.untested === true)
    return warning(check, `${shown} is not available and was never tested`, test);
  if (state === 'missing') return problem(check, text ?? `${shown} is not available`, test);
  return await checkOpening(check, place, remembered, context);
}

/** Files that this machine wrote: a clock that is behind their times is wrong. */
export function witnessesOf(env: Environment): readonly string[] {
  const { directory, machineKey } = statePaths(env);
  return [machineKey, join(directory, 'state.db'), join(directory, 'agent.log')];
}

import type { Command } from 'commander';
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { formatBytes } from '../../base/units.ts';
import { removeValue } from '../../config/config-edit.ts';
import { findDestination } from '../../config/effective-settings.ts';
import { onePlaces, onePlaceText } from '../../daemon/places/one-place.ts';
import { holdsBackups, shownDestination, shownNames } from '../../config/embedded-repository.ts';
import type { DestinationSettings, Settings } from '../../config/settings.ts';
import type { DestinationView } from '../../control/calls.ts';
import { agentObject, knownDestinations } from '../agent/ask-agent.ts';
import type { Context } from '../command/context.ts';
import {
  addDestination,
  type AddOptions,
  chooseDefault,
  type DefaultOptions,
  dropDestination,
  locationOf,
  type RemoveOptions,
} from './destination-changes.ts';
import { type Look, lookAt, tryOut } from '../places/destination-look.ts';
import { showFindings } from '../doctor/doctor.ts';
import { EXIT } from '../command/exit-codes.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { changeSettings, readSettings, settingsOrDefaults } from '../places/settings-file.ts';
import { statePaths } from '../command/state-directory.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, type Styles, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import { ago, shortId } from '../terminal/wording.ts';

interface DestinationsOptions extends OutputOptions {
  readonly config?: string;
}

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string, json: string): Command => {
    const one = command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help')
      .option('--config <file>', 'Use this file instead of config.json in the state directory');
    return addOutputOptions(one, { json });
  };
  sub(
    'list',
    'List the destinations, what they hold, and when they were last checked',
    'One JSON object for each',
  ).action(async (options: DestinationsOptions) => await list(options, context));

  sub(
    'test',
    'Test a place: write, list, read and delete a file, and open the repository if there is one',
    'The findings as one JSON object',
  )
    .argument('<name>', 'a destination, or a path or URL that is not configured yet')
    .action(async (name: string, options: DestinationsOptions) => await test(name, options, context));

  sub(
    'add',
    'Test a place and add it; the first backup creates a repository there',
    'The result as a JSON object',
  )
    .argument('<name>', 'a name of your choice')
    .argument('<location>', 'a path, or a URL without passwords')
    .option('--default', 'Back up to it by default; earlier backups stay where they are')
    .option('--untested', 'Add it without a test, for example when its disk is not connected today')
    .option('--passphrase-file <file>', 'Its passphrase is in this file')
    .option('--passphrase-env <variable>', 'Its passphrase is in this variable of the agent')
    .option('--passphrase-command <command>', 'This command prints its passphrase')
    .option('--passphrase-credential <name>', 'Its passphrase is this systemd credential')
    .action(
      async (name: string, location: string, options: AddOptions) =>
        await addDestination(name, location, options, context),
    );

  sub(
    'set-default',
    'Back up to it by default; earlier backups stay where they are',
    'The result as a JSON object',
  )
    .argument('<name>', 'a destination; embedded is the repository that "start" created')
    .option('--untested', 'Without a test, for example when its disk is not connected today')
    .action(async (name: string, options: DefaultOptions) => await chooseDefault(name, options, context));

  sub('remove', 'Remove a destination; the backups stored there are kept', 'The result as a JSON object')
    .argument('<name>')
    .option(
      '--default-to <name>',
      'The new default, if you remove the default destination; embedded is the repository that "start" created',
    )
    .action(async (name: string, options: RemoveOptions) => await dropDestination(name, options, context));
  addExamples(command, [
    [holdfast`destinations add nas /mnt/nas/holdfast --default`, 'back up to another disk'],
    [holdfast`destinations test nas`, 'check that it works'],
    [holdfast`destinations set-default embedded`, 'go back to the repository that "start" created'],
  ]);
}

/** A destination with all that is known about it. */
interface Row extends Look {
  readonly settings: DestinationSettings;
  readonly known: DestinationView | undefined;
  readonly isDefault: boolean;
  readonly isEmbedded: boolean;
  /** It is the embedded repository and has backups, while new ones go elsewhere. */
  readonly holdsEarlier: boolean;
}

async function list(options: DestinationsOptions, context: Context): Promise<void> {
  const { out, env, clock } = context;
  const { destinations, defaultDestination, embedded } = await settingsOrDefaults(options.config, context);
  const told = options.config === undefined ? await knownDestinations(context) : undefined;
  const rows: Row[] = [];
  for (const settings of destinations) {
    const known = told?.find(({ name }) => name === settings.name);
    const look = await lookAt(settings, known, context);
    const isDefault = settings.name === defaultDestination;
    const isEmbedded = settings.url === embedded.url;
    const holdsEarlier = isEmbedded && !isDefault && holdsBackups(statePaths(env).directory);
    rows.push({ ...look, settings, known, isDefault, isEmbedded, holdsEarlier });
  }
  if (options.json === true) {
    for (const row of rows) await out.json(jsonOf(row, told !== undefined));
    return;
  }
  const styles = createStyles(wantsColor(out.stream, env));
  const columns = [
    { title: 'Name', cut: 'never' as const },
    { title: 'State', cut: 'never' as const },
    { title: 'Stored', align: 'right' as const },
    { title: 'Free', align: 'right' as const },
    { title: 'Repository' },
    { title: 'Last check' },
    { title: 'Where', cut: 'middle' as const },
  ];
  await out.write(
    renderTable(
      columns,
      rows.map((row) =>
        cellsOf(row, shownDestination(row.settings.name, { destinations, embedded }), styles, clock.now()),
      ),
      { width: terminalWidth(out.stream), titleStyle: styles.bold },
    ),
  );
  const own = rows.find(({ isEmbedded }) => isEmbedded);
  if (own !== undefined) {
    await out.line('');
    await out.line(
      printable(
        `${shownDestination(own.settings.name, { destinations, embedded })} is the repository on this computer that the first start made.`,
      ),
    );
  }
  for (const { problem, settings } of rows)
    if (problem !== null) await out.line(printable(`${settings.name}: ${problem}`));
  const repositories = new Map(rows.map((row) => [row.settings.name, row.repositoryId ?? undefined]));
  for (const names of onePlaces(destinations, (name) => repositories.get(name)))
    await out.line(printable(`Warning: ${onePlaceText(names)}`));
  if (told === undefined && options.config === undefined)
    await out.line('\nThe agent is not running, so the time of the last check is unknown.');
}

function jsonOf({ settings, known, isDefault, isEmbedded, ...look }: Row, agentRuns: boolean): object {
  return agentObject({
    type: 'destination',
    name: settings.name,
    url: settings.url,
    default: isDefault,
    embedded: isEmbedded,
    untested: settings.untested === true,
    state: look.state,
    problem: look.problem,
    used_bytes: look.usedBytes,
    free_bytes: look.freeBytes,
    repository_id: look.repositoryId,
    agent_running: agentRuns,
    last_check: known?.last_check ?? null,
  });
}

const STATE_WORDS = { ready: 'ready', empty: 'not used yet', missing: 'NOT AVAILABLE', broken: 'NOT USABLE' };

function cellsOf(row: Row, shown: string, styles: Styles, nowMs: number) {
  const { settings, known, state, usedBytes, freeBytes, repositoryId } = row;
  const style = { ready: styles.green, empty: styles.dim, missing: styles.red, broken: styles.red }[state];
  return [
    nameCell(row, shown),
    { text: STATE_WORDS[state], style },
    usedBytes === null ? '' : formatBytes(usedBytes),
    freeBytes === null ? '' : formatBytes(freeBytes),
    repositoryId === null ? '' : shortId(repositoryId),
    checkCell(known?.last_check, styles, nowMs),
    settings.url,
  ];
}

function nameCell({ settings: { untested }, isDefault, holdsEarlier }: Row, name: string): string {
  const notes = [
    ...(isDefault ? ['default'] : []),
    ...(holdsEarlier ? ['earlier backups'] : []),
    ...(untested === true ? ['not tested'] : []),
  ];
  return notes.length === 0 ? name : `${name} (${notes.join(', ')})`;
}

function checkCell(check: DestinationView['last_check'] | undefined, styles: Styles, nowMs: number) {
  if (check === undefined) return '';
  if (check === null) return 'never';
  const age = ago(nowMs - check.finished_at);
  if (check.status === 'failed') return { text: `FAILED ${age}`, style: styles.red };
  return check.result === 'warning' ? { text: `warnings ${age}`, style: styles.yellow } : age;
}

async function test(wanted: string, options: DestinationsOptions, context: Context): Promise<void> {
  const settings = await settingsOrDefaults(options.config, context);
  const found = findDestination(settings, wanted);
  if (found === undefined && !/[/\\:]/.test(wanted)) throw unknown(wanted, settings);
  const tried = found ?? { name: wanted, url: locationOf(wanted), passphrase: null };
  const told =
    found === undefined || options.config !== undefined ? undefined : await knownDestinations(context);
  const remembered = told?.find(({ name }) => name === found?.name)?.repository_id || undefined;
  const findings = await tryOut(tried, { configured: found !== undefined, remembered }, context);
  const usable = findings.every(({ status }) => status !== 'error');
  if (usable && found?.untested === true) await markTested(found.name, options, context);
  if (!usable) context.exitCode = EXIT.failed;
  if (options.json === true) {
    await context.out.json({
      type: 'destination_test',
      name: tried.name,
      url: tried.url,
      usable,
      findings,
    });
    return;
  }
  await showFindings(findings, context);
  // A place that does not exist yet was not tried, so there is no verdict.
  if (usable && findings.length === 1) return;
  const verdict = usable ? 'can be used.' : 'CANNOT be used.';
  await context.out.line(`\n${printable(tried.name)} ${verdict}`);
}

function unknown(name: string, settings: Pick<Settings, 'destinations' | 'embedded'>): RequestError {
  return new RequestError('INVALID_DESTINATION', `There is no destination called ${name}`, {
    hint: `Destinations are: ${shownNames(settings).join(', ')}. You can also use a path or a URL.`,
  });
}

/** Removes the mark of a destination that was added without a test. */
async function markTested(name: string, options: DestinationsOptions, context: Context): Promise<void> {
  const loaded = await readSettings(options.config, context);
  if (loaded?.values.destinations[name]?.untested !== true) return;
  await changeSettings([removeValue(['destinations', name, 'untested'])], loaded, options.config, context);
}

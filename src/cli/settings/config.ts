import type { Command } from 'commander';
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { ConfigError, type KeyPath, shownKeyPath } from '../../config/config-error.ts';
import { type ConfigChange, editConfig, removeValue, setValue } from '../../config/config-edit.ts';
import { findSetting, readTypedValue } from '../../config/key-path.ts';
import { loadConfig, NO_FILE, readConfig, requireNeverThere } from '../../config/load.ts';
import { type FilledConfig, jsonSchemaText } from '../../config/schema.ts';
import { onePlaces, onePlaceText } from '../../daemon/places/one-place.ts';
import { unfitSources, unfitText } from '../../daemon/sources/unfit-sources.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { settingsContext } from '../places/settings-file.ts';
import { configFile, ensureStateDirectory, statePaths } from '../command/state-directory.ts';
import { type Environment, jsonText, printable } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

interface ConfigOptions extends OutputOptions {
  readonly config?: string;
}

interface SetOptions extends ConfigOptions {
  readonly untested?: boolean;
}

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string): Command =>
    command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help');

  addCommon(sub('get', 'Show a setting, or all of them, defaults included'), 'The value in a JSON object')
    .argument('[key]', 'the setting, such as retention.keepDaily or sources[0].path')
    .action(async (key: string | undefined, options: ConfigOptions) => await get(key, options, context));

  addCommon(sub('set', 'Change a setting'), 'The result as a JSON object')
    .argument('<key>', 'the setting; sources[-] adds an entry')
    .argument('<value>', 'text, a number, true, false, null, or JSON')
    .option('--untested', 'Do not test a destination, for example when its disk is not connected today')
    .action(async (key: string, value: string, options: SetOptions) => {
      const setting = findSetting(key);
      const change = setValue(setting.path, readTypedValue(setting, value));
      if (options.untested !== true && options.config === undefined && isAboutDestinations(change)) {
        const { tryChange } = await import('./usable-destination.ts');
        await tryChange(change, holdfast`config set ${key} ${value} --untested`, context);
      }
      const marked = options.untested === true ? untestedBy(change) : [];
      await edit([change, ...marked], `${printable(key)} was set`, options, context);
    });

  addCommon(sub('unset', 'Remove a setting, so that its default applies'), 'The result as a JSON object')
    .argument('<key>', 'the name of a setting')
    .action(async (key: string, options: ConfigOptions) => {
      await edit([removeValue(findSetting(key).path)], `${printable(key)} was removed`, options, context);
    });

  addCommon(
    sub('validate', 'Check the configuration, and show where it is wrong'),
    'The result as a JSON object',
  )
    .argument('[file]', 'check this file instead of the one in use')
    .action(
      async (file: string | undefined, options: ConfigOptions) => await validate(file, options, context),
    );

  sub('schema', 'Print the JSON Schema, with which editors complete and check settings').action(
    async () => await context.out.write(jsonSchemaText()),
  );

  addCommon(sub('path', 'Print the path of the configuration file'), 'The path in a JSON object').action(
    async (options: ConfigOptions) => await showPath(options, context),
  );
  addExamples(command, [
    [holdfast`config set retention.keepDaily 14`, 'keep two weeks of daily snapshots'],
    [holdfast`config set 'sources[-]' '{"path": "~/Documents"}'`, 'back up another directory'],
    [holdfast`config validate`, 'check it after editing by hand'],
  ]);
}

function addCommon(command: Command, json: string): Command {
  command.option('--config <file>', 'Use this file instead of config.json in the state directory');
  return addOutputOptions(command, { json });
}

/** Such a change may send backups to a place that does not exist. */
function isAboutDestinations({ path: [first] }: ConfigChange): boolean {
  return first === 'destinations' || first === 'defaultDestination';
}

/** Marks the destination that is set as untested, so that the settings say so. */
function untestedBy({ path: [first, name] }: ConfigChange): readonly ConfigChange[] {
  const isOne = first === 'destinations' && name !== undefined;
  return isOne ? [setValue([first, name, 'untested'], true)] : [];
}

async function get(key: string | undefined, options: ConfigOptions, { env, out }: Context): Promise<void> {
  const setting = key === undefined ? undefined : findSetting(key);
  const file = configFile(options.config, env);
  const { values, revision } = await readValues(file, options, env);
  const value = setting === undefined ? values : valueAt(values, setting.path);
  if (options.json === true) await out.json({ type: 'setting', key: key ?? null, value, file, revision });
  else await out.write(typeof value === 'string' ? `${printable(value)}\n` : jsonText(value));
}

async function readValues(
  file: string,
  options: ConfigOptions,
  env: Environment,
): Promise<{ readonly values: FilledConfig; readonly revision: string }> {
  const context = settingsContext(env);
  const loaded = await readConfig(file, context);
  if (loaded !== undefined) return loaded;
  await requireNeverThere(file, context.stateDirectory);
  if (options.config !== undefined) throw missing(file);
  const { values } = loadConfig(file, Buffer.from('{}'), context);
  return { values, revision: NO_FILE };
}

function missing(file: string): ConfigError {
  return new ConfigError('CONFIG_MISSING', `${file} does not exist`, { hint: 'Check the spelling.' });
}

function valueAt(values: unknown, path: KeyPath): unknown {
  return path.reduce((value, segment) => {
    const found: unknown =
      typeof value === 'object' && value !== null && Object.hasOwn(value, segment)
        ? Reflect.get(value, segment)
        : undefined;
    if (found !== undefined) return found;
    throw new RequestError('NOT_FOUND', `${shownKeyPath(path)} is not configured`, {
      hint: `List all settings with: ${holdfast`config get`}`,
    });
  }, values);
}

async function edit(
  changes: readonly [ConfigChange, ...ConfigChange[]],
  done: string,
  options: ConfigOptions,
  { env, out, signal }: Context,
): Promise<void> {
  const file = configFile(options.config, env);
  if (options.config === undefined) await ensureStateDirectory(statePaths(env).directory);
  const { revision } = await editConfig({ file, context: settingsContext(env) }, changes, undefined, signal);
  if (options.json === true)
    await out.json({ type: 'config_changed', key: shownKeyPath(changes[0].path), file, revision });
  else await out.line(`${done} in ${printable(file)}.`);
}

async function validate(named: string | undefined, options: ConfigOptions, context: Context): Promise<void> {
  const { env, out } = context;
  const file = configFile(named ?? options.config, env);
  try {
    // The permissions of the file matter only for the configuration in use.
    const use = file === configFile(options.config, env) ? 'in-force' : 'draft';
    const loaded = await readConfig(file, settingsContext(env), use);
    if (loaded === undefined) await requireNeverThere(file, statePaths(env).directory);
    if (loaded === undefined && (named ?? options.config) !== undefined) throw missing(file);
    const { sources = [], destinations = [] } = loaded?.settings ?? {};
    const stateDirectory = statePaths(env).directory;
    const warnings: readonly { readonly message: string }[] = [
      ...onePlaces(destinations).map((names) => ({ message: onePlaceText(names), destinations: names })),
      ...unfitSources({ settings: { sources, destinations }, stateDirectory }).map((one) => ({
        message: unfitText(one),
        sources: one.paths,
      })),
    ];
    if (options.json === true)
      await out.json({ type: 'config_check', file, valid: true, problems: [], warnings });
    else if (loaded === undefined) await out.line(`${printable(file)} does not exist: all defaults apply.`);
    else {
      await out.line(
        `${printable(file)} is valid: ${count(sources.length, 'source')}, ${count(destinations.length, 'destination')}.`,
      );
      for (const { message } of warnings) await out.line(printable(`Warning: ${message}`));
    }
  } catch (error) {
    if (!(error instanceof ConfigError) || error.problems.length === 0) throw error;
    context.exitCode = EXIT.failed;
    const { problems } = error;
    if (options.json === true) {
      await out.json({ type: 'config_check', file, valid: false, problems });
      return;
    }
    for (const { line, column, path, message, hint } of problems) {
      const where = path === '' ? '' : `${path}: `;
      await out.line(printable(`${file}:${line}:${column}: ${where}${message}. ${hint}`));
    }
  }
}

async function showPath(options: ConfigOptions, { env, out }: Context): Promise<void> {
  const file = configFile(options.config, env);
  if (options.json === true) await out.json({ type: 'config_path', file });
  else await out.line(printable(file));
}

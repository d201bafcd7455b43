/** Reads and changes the configuration file for commands. Changes keep its comments. */
import { homedir } from 'node:os';
import { checkEdit, type ConfigChange, editConfig } from '../../config/config-edit.ts';
import { ConfigError } from '../../config/config-error.ts';
import { loadConfig, type LoadedConfig, NO_FILE, readConfig, requireNeverThere } from '../../config/load.ts';
import type { Settings } from '../../config/settings.ts';
import { SETTINGS_CHECKS } from '../../daemon/settings-checks.ts';
import type { Context } from '../command/context.ts';
import { requireOwnAgent } from '../install/installed.ts';
import { configFile, ensureStateDirectory, statePaths } from '../command/state-directory.ts';
import type { Environment } from '../terminal/terminal.ts';
import type { SettingsContext } from '../../config/settings-context.ts';

/** What the settings depend on in addition to the file. */
export function settingsContext(env: Environment): SettingsContext {
  return {
    home: homedir(),
    stateDirectory: statePaths(env).directory,
    ...SETTINGS_CHECKS,
  };
}

/**
 * The configuration; undefined when there is no file and never was one.
 * @param named the value of `--config`
 * @throws {ConfigError}
 */
export async function readSettings(
  named: string | undefined,
  { env }: Context,
): Promise<LoadedConfig | undefined> {
  const context = settingsContext(env);
  const file = configFile(named, env);
  const loaded = await readConfig(file, context);
  if (loaded === undefined) await requireNeverThere(file, context.stateDirectory);
  return loaded;
}

/**
 * The settings in effect: defaults when there is no file.
 * @throws {ConfigError} CONFIG_MISSING when a file was named that does not exist
 */
export async function settingsOrDefaults(named: string | undefined, context: Context): Promise<Settings> {
  const loaded = await readSettings(named, context);
  if (loaded !== undefined) return loaded.settings;
  const file = configFile(named, context.env);
  if (named !== undefined)
    throw new ConfigError('CONFIG_MISSING', `${file} does not exist`, { hint: 'Check the spelling.' });
  return loadConfig(file, Buffer.from('{}'), settingsContext(context.env)).settings;
}

const forReading = new WeakMap<Context, Promise<Settings>>();

/** The settings in effect, read once per command. For what looks at the settings without changing them. */
export async function settingsOnce(context: Context): Promise<Settings> {
  const read = forReading.get(context) ?? settingsOrDefaults(undefined, context);
  forReading.set(context, read);
  return await read;
}

/**
 * Writes the changes and returns the new configuration.
 * @throws {RequestError} REVISION_MISMATCH when somebody else changed the file since it was read
 */
export async function changeSettings(
  changes: readonly ConfigChange[],
  read: LoadedConfig | undefined,
  named: string | undefined,
  { env, signal }: Context,
): Promise<LoadedConfig> {
  if (named === undefined && read === undefined) await requireOwnAgent(env);
  await ensureStateDirectory(statePaths(env).directory);
  const target = { file: configFile(named, env), context: settingsContext(env) };
  return await editConfig(target, changes, read?.revision ?? NO_FILE, signal);
}

/** Throws what `changeSettings` would throw for these changes, without changing anything. */
export async function checkChange(
  changes: readonly ConfigChange[],
  read: LoadedConfig | undefined,
  named: string | undefined,
  { env }: Context,
): Promise<void> {
  const target = { file: configFile(named, env), context: settingsContext(env) };
  await checkEdit(target, changes, read?.revision ?? NO_FILE);
}

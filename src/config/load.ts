/** Loads a configuration file into settings, or reports everything that is wrong with it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Node } from 'jsonc-parser';
import { readFileIfPresent } from '../base/atomic-file.ts';
import { ConfigError, type ConfigProblem, problemsError } from './config-error.ts';
import { decodeText } from './config-text.ts';
import { buildSettings } from './effective-settings.ts';
import { readConfigBytes } from './file-access.ts';
import { parseText } from './parse.ts';
import type { FilledConfig } from './schema.ts';
import type { SettingsContext } from './settings-context.ts';
import type { Settings } from './settings.ts';
import { checkAgainstSchema, type Checked, type Fault, placeFaults } from './validate.ts';

export interface LoadedConfig {
  /** Without byte order mark. */
  readonly text: string;
  readonly byteOrderMark: boolean;
  readonly revision: string;
  /** The file's values, with defaults filled in. */
  readonly values: FilledConfig;
  readonly settings: Settings;
}

/** The revision of a configuration that does not exist. */
export const NO_FILE = 'none';

/** The revision of a file's content, which differs for any change of its bytes. */
function revisionOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? NO_FILE : createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}

/**
 * Reads and checks the file; undefined when there is none.
 * @throws {ConfigError} with all problems in the file
 */
export async function readConfig(
  file: string,
  context: SettingsContext,
  use: 'in-force' | 'draft' = 'in-force',
): Promise<LoadedConfig | undefined> {
  const bytes = await readConfigBytes(file, use);
  return bytes === undefined ? undefined : loadConfig(file, bytes, context);
}

/**
 * Checks the content of a file.
 * @throws {ConfigError} with all problems in it
 */
export function loadConfig(file: string, bytes: Uint8Array, context: SettingsContext): LoadedConfig {
  const { text, byteOrderMark, root, value } = checkedText(file, bytes, checkAgainstSchema);
  const built = buildSettings(value, context);
  if (built.settings === undefined) throw faulty(file, text, root, built.faults);
  return {
    text,
    byteOrderMark,
    revision: revisionOf(bytes),
    values: value,
    settings: built.settings,
  };
}

interface CheckedText<Value> {
  /** Without byte order mark. */
  readonly text: string;
  readonly byteOrderMark: boolean;
  readonly root: Node;
  /** With all defaults filled in. */
  readonly value: Value;
}

/**
 * The content of a configuration file, checked against a schema.
 * @throws {ConfigError} with all problems in it
 */
export function checkedText<Value>(
  file: string,
  bytes: Uint8Array,
  check: (value: unknown) => Checked<Value>,
): CheckedText<Value> {
  const { text, byteOrderMark, problem } = decodeText(bytes);
  if (problem !== null) throw problemsError(file, [problem]);
  const { root, value, problems } = parseText(text);
  if (root === undefined) throw thrown(file, problems);
  const checked = check(value);
  if (checked.value === undefined) throw faulty(file, text, root, checked.faults);
  return { text, byteOrderMark, root, value: checked.value };
}

function faulty(file: string, text: string, root: Node, faults: readonly Fault[]): Error {
  return thrown(file, placeFaults(text, root, faults));
}

function thrown(file: string, [first, ...others]: readonly ConfigProblem[]): Error {
  const unknown = {
    code: 'CONFIG_INVALID',
    path: '',
    line: 1,
    column: 1,
    message: 'The file is not valid',
    hint: '',
  } as const;
  return problemsError(file, [first ?? unknown, ...others]);
}

/**
 * The first line of the copy names its file, so that the copy is not used for another one that is given by --config.
 */
export function firstLineOf(file: string): string {
  return `// The last valid content of ${JSON.stringify(file)}, kept by Holdfast. Changes here have no effect.\n`;
}

/** Where the agent keeps the last valid content. */
export function lastGoodPath(stateDirectory: string): string {
  return join(stateDirectory, 'config.last-good.json');
}

/**
 * Checks that a missing file never existed. If an agent has used the file, it is gone, and the agent still uses what it
 * contained. Creating it anew would end the protection of everything it configured.
 * @throws {ConfigError} CONFIG_MISSING; {StateError} when that cannot be found out
 */
export async function requireNeverThere(file: string, stateDirectory: string): Promise<void> {
  const copy = lastGoodPath(stateDirectory);
  const content = (await readFileIfPresent(copy))?.toString('utf8') ?? '';
  if (content.startsWith(firstLineOf(file))) throw missingConfig(file, copy);
}

/** @param copy path of its last valid content, if there is any */
export function missingConfig(file: string, copy?: string): ConfigError {
  const there = copy === undefined ? '' : `: its last content is in ${copy}`;
  return new ConfigError('CONFIG_MISSING', `The configuration ${file} does not exist`, {
    hint: `Restore it${there}. To start over with the defaults, write {} into it.`,
    details: { file },
  });
}

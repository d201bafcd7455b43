/** A configuration file that is not there: never was, or is gone. */
import { join } from 'node:path';
import { readFileIfPresent } from '../base/atomic-file.ts';
import { ConfigError } from './config-error.ts';

/** The first line tells which file a copy is of: another one, named with --config, is not served by it. */
export function firstLineOf(file: string): string {
  return `// The last valid content of ${JSON.stringify(file)}, kept by Holdfast. Changes here have no effect.\n`;
}

/** Where the agent keeps what was last valid. */
export function lastGoodPath(stateDirectory: string): string {
  return join(stateDirectory, 'config.last-good.json');
}

/**
 * For a file that does not exist. One that an agent has gone by is gone, and the agent still goes by what it held: to take
 * it for one that never was, and make it anew, would end all that it protects.
 * @throws {ConfigError} CONFIG_MISSING; {StateError} when that cannot be found out
 */
export async function requireNeverThere(file: string, stateDirectory: string): Promise<void> {
  const copy = lastGoodPath(stateDirectory);
  const content = (await readFileIfPresent(copy))?.toString('utf8') ?? '';
  if (content.startsWith(firstLineOf(file))) throw missingConfig(file, copy);
}

/** @param copy of what it last held, if there is one */
export function missingConfig(file: string, copy?: string): ConfigError {
  const there = copy === undefined ? '' : `: what it last held is in ${copy}`;
  return new ConfigError('CONFIG_MISSING', `The configuration ${file} does not exist`, {
    hint: `Put it back${there}. To begin anew with the defaults, write {} into it.`,
    details: { file },
  });
}

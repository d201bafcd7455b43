/** Tells a configuration file that never existed from one that is gone. */
import { join } from 'node:path';
import { readFileIfPresent } from '../base/atomic-file.ts';
import { ConfigError } from './config-error.ts';

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
  const there = copy === undefined ? '' : `: what it last held is in ${copy}`;
  return new ConfigError('CONFIG_MISSING', `The configuration ${file} does not exist`, {
    hint: `Put it back${there}. To begin anew with the defaults, write {} into it.`,
    details: { file },
  });
}

/** A copy of the last valid configuration, so that a restart with a broken one still knows what to do. */
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.ts';
import { ConfigError } from './config-error.ts';
import type { SettingsContext } from './effective-settings.ts';
import { loadConfig, type LoadedConfig } from './load.ts';

/** The first line tells which file the copy is of: another one, named with --config, is not served by it. */
function firstLine(file: string): string {
  return `// The last valid content of ${JSON.stringify(file)}, kept by Holdfast. Changes here have no effect.\n`;
}

function copyOf(stateDirectory: string): string {
  return join(stateDirectory, 'config.last-good.json');
}

/** @throws {StateError} */
export async function saveLastGood(
  stateDirectory: string,
  file: string,
  { text }: Pick<LoadedConfig, 'text'>,
): Promise<void> {
  const path = copyOf(stateDirectory);
  const content = firstLine(file) + text;
  if ((await readFileIfPresent(path))?.toString('utf8') === content) return;
  await writeFileAtomically(path, content);
}

/**
 * Undefined when there is none of this file, or when it is not valid (any more).
 * @throws {StateError} when it cannot be read
 */
export async function readLastGood(
  file: string,
  context: SettingsContext,
): Promise<LoadedConfig | undefined> {
  const path = copyOf(context.stateDirectory);
  const content = (await readFileIfPresent(path))?.toString('utf8') ?? '';
  const first = firstLine(file);
  if (!content.startsWith(first)) return undefined;
  try {
    return loadConfig(path, Buffer.from(content.slice(first.length)), context);
  } catch (error) {
    // The file itself has a mistake too, or it would not be asked for: that is the one to report.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Keeps a copy of the last valid configuration, so that the agent can start even if the file has become invalid. */
import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.ts';
import { ConfigError } from './config-error.ts';
import { loadConfig, type LoadedConfig } from './load.ts';
import { firstLineOf, lastGoodPath } from './never-there.ts';
import type { SettingsContext } from './settings-context.ts';

/** @throws {StateError} */
export async function saveLastGood(
  stateDirectory: string,
  file: string,
  { text }: Pick<LoadedConfig, 'text'>,
): Promise<void> {
  const path = lastGoodPath(stateDirectory);
  const content = firstLineOf(file) + text;
  if ((await readFileIfPresent(path))?.toString('utf8') === content) return;
  await writeFileAtomically(path, content);
}

/**
 * The last valid content of this file; undefined when there is none, or when it is no longer valid.
 * @throws {StateError} when it cannot be read
 */
export async function readLastGood(
  file: string,
  context: SettingsContext,
): Promise<LoadedConfig | undefined> {
  const path = lastGoodPath(context.stateDirectory);
  const content = (await readFileIfPresent(path))?.toString('utf8') ?? '';
  const first = firstLineOf(file);
  if (!content.startsWith(first)) return undefined;
  try {
    return loadConfig(path, Buffer.from(content.slice(first.length)), context);
  } catch (error) {
    // The file itself is invalid too, otherwise its copy would not be needed; the file's problem is the one to report.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

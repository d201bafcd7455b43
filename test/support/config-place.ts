/** A directory of its own for a configuration and a state directory, and contexts to read settings with. */
import { chmod, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, type ConfigProblem } from '../../src/config/config-error.ts';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { removeTree } from './remove-tree.ts';
import type { SettingsContext } from '../../src/config/settings-context.ts';

export interface ConfigPlace extends AsyncDisposable {
  readonly directory: string;
  readonly file: string;
  readonly context: SettingsContext;
  /** Writes the file in place, with mode 0600. */
  write(text: string | Uint8Array): Promise<void>;
}

export async function openConfigPlace(): Promise<ConfigPlace> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-config-')));
  const stateDirectory = join(directory, 'state');
  await mkdir(stateDirectory, { mode: 0o700 });
  const file = join(stateDirectory, 'config.json');
  return {
    directory,
    file,
    context: { home: '/home/anna', stateDirectory },
    async write(text) {
      await writeFile(file, text);
      await chmod(file, 0o600);
    },
    async [Symbol.asyncDispose]() {
      removeTree(directory);
    },
  };
}

export const CONTEXT: SettingsContext = { home: '/home/anna', stateDirectory: '/state' };

export function load(text: string | Uint8Array, context = CONTEXT): LoadedConfig {
  return loadConfig('config.json', typeof text === 'string' ? Buffer.from(text) : text, context);
}

/** What is wrong with a text that is not valid. */
export function problemsOf(text: string | Uint8Array, context = CONTEXT): readonly ConfigProblem[] {
  try {
    load(text, context);
  } catch (error) {
    if (error instanceof ConfigError && error.problems.length > 0) return error.problems;
    throw error;
  }
  throw new Error('The text is valid');
}

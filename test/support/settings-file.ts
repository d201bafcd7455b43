/** The configuration file of a test, as the API reads and changes it: followed by nobody. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkEdit, editConfig } from '../../src/config/config-edit.ts';
import { loadConfig } from '../../src/config/load.ts';
import { errnoOf } from '../../src/base/errors.ts';
import type { SettingsFile } from '../../src/api/routes/resource-parts.ts';

/** `config.json` in the state directory. */
export function testSettingsFile(stateDirectory: string): SettingsFile {
  const file = join(stateDirectory, 'config.json');
  const context = { home: '/home/ana', stateDirectory };
  return {
    get document() {
      const bytes = bytesOf(file);
      return bytes === undefined ? undefined : loadConfig(file, bytes, context);
    },
    check: async (changes, expectedRevision) => await checkEdit({ file, context }, changes, expectedRevision),
    edit: async (changes, expectedRevision, signal) =>
      await editConfig({ file, context }, changes, expectedRevision, signal),
  };
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

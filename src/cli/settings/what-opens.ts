/** Says what will open the repository that the first backup makes at a new destination. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { holdfast } from '../../base/holdfast-command.ts';
import type { SecretReference } from '../../config/settings.ts';
import { kitPassphrase, kitRecoveryCode } from '../../daemon/places/kit-secrets.ts';
import { directoryOf } from '../../destination/location.ts';
import type { StatePaths } from '../command/state-directory.ts';

interface NewPlace {
  readonly url: string;
  readonly passphrase?: SecretReference;
}

/** Undefined if there is a repository already, which keeps its keys. @throws {StateError} */
export async function whatWillOpen(
  { url, passphrase }: NewPlace,
  { directory: state }: StatePaths,
  name: string,
): Promise<string | undefined> {
  const directory = directoryOf(url);
  if (directory !== undefined && existsSync(join(directory, 'keys'))) return undefined;
  const made = directory === undefined ? 'A repository that is made there' : 'The repository there';
  const another = `To make a recovery code for it, after the first backup: ${holdfast`keys add -r ${name} --recovery-code`}`;
  if (passphrase !== undefined)
    return `${made} will open with the passphrase that you named, and not with the recovery kit. ${another}`;
  // If there is neither, the first start makes a kit with both.
  const isComplete =
    (await kitRecoveryCode(state)) !== undefined || (await kitPassphrase(state)) === undefined;
  return isComplete
    ? `${made} will open with the recovery kit of this computer: its passphrase, or its recovery code.`
    : `${made} will open with the passphrase of the recovery kit, and not with its recovery code. ${another}`;
}

/** What will open the repository that the first backup makes at a new destination: whoever moves there has to know. */
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

/** Undefined where a repository is there already, which opens as it did. @throws {StateError} */
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
  // Neither: the first start makes the kit, with both.
  const isComplete =
    (await kitRecoveryCode(state)) !== undefined || (await kitPassphrase(state)) === undefined;
  return isComplete
    ? `${made} will open with the recovery kit of this computer: its passphrase, or its recovery code.`
    : `${made} will open with the passphrase of the recovery kit, and not with its recovery code. ${another}`;
}

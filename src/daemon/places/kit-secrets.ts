/** What of the recovery kit the agent keeps, so that the kit opens the repositories that it makes at other places too. */
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.ts';
import { RepositoryError, StateError } from '../../base/errors.ts';
import { SAVE_AS_UTF8, faultWords, peopleText } from '../../base/people-text.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';

/** Undefined where no kit was made here. @throws {StateError} */
export async function kitPassphrase(stateDirectory: string): Promise<string | undefined> {
  return (await textIfPresent(join(stateDirectory, 'passphrase')))?.trim();
}

/**
 * The kit that still lies here counts where no file of its own has it: earlier versions wrote none. Undefined when neither
 * has one.
 * @throws {StateError}
 */
export async function kitRecoveryCode(stateDirectory: string): Promise<string | undefined> {
  const kept = (await textIfPresent(join(stateDirectory, 'recovery-code')))?.trim();
  if (kept !== undefined) return isWhole(kept) ? kept : undefined;
  const kit = (await textIfPresent(join(stateDirectory, 'recovery-kit.txt'))) ?? '';
  const written = /^ *Recovery code +(\S+) *$/m.exec(kit)?.[1];
  return written !== undefined && isWhole(written) ? written : undefined;
}

/** Somebody may have written it anew with an editor, as hints say. @throws {StateError} READ_ERROR */
export async function textIfPresent(file: string): Promise<string | undefined> {
  const bytes = await readFileIfPresent(file);
  if (bytes === undefined) return undefined;
  const read = peopleText(bytes);
  if ('text' in read) return read.text;
  throw new StateError('READ_ERROR', `${file} ${faultWords(read.fault)}`, { hint: SAVE_AS_UTF8 });
}

/** Before the kit goes. @throws {StateError} */
export async function keepRecoveryCode(stateDirectory: string): Promise<void> {
  const code = await kitRecoveryCode(stateDirectory);
  if (code !== undefined) await writeFileAtomically(join(stateDirectory, 'recovery-code'), `${code}\n`);
}

/** The passphrase opens the repository also where somebody has damaged the code. */
function isWhole(code: string): boolean {
  try {
    return secretOf(code).kind === 'recovery';
  } catch (error) {
    if (error instanceof RepositoryError) return false;
    throw error;
  }
}

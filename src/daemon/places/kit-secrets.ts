/**
 * The secrets of the recovery kit that the agent keeps, so that the kit also opens repositories that it makes at other places.
 */
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.ts';
import { RepositoryError, StateError } from '../../base/errors.ts';
import { SAVE_AS_UTF8, faultWords, peopleText } from '../../base/people-text.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';

/** Undefined when no kit was made on this machine. @throws {StateError} */
export async function kitPassphrase(stateDirectory: string): Promise<string | undefined> {
  return (await textIfPresent(join(stateDirectory, 'passphrase')))?.trim();
}

/**
 * Reads the file of the recovery code or, as earlier versions wrote none, the kit if it is still on this machine.
 * Undefined when neither has a valid code.
 * @throws {StateError}
 */
export async function kitRecoveryCode(stateDirectory: string): Promise<string | undefined> {
  const kept = (await textIfPresent(join(stateDirectory, 'recovery-code')))?.trim();
  if (kept !== undefined) return isWhole(kept) ? kept : undefined;
  const kit = (await textIfPresent(join(stateDirectory, 'recovery-kit.txt'))) ?? '';
  const written = /^ *Recovery code +(\S+) *$/m.exec(kit)?.[1];
  return written !== undefined && isWhole(written) ? written : undefined;
}

/**
 * Decodes the text as people save it, since hints tell them to write such a file with an editor.
 * @throws {StateError} READ_ERROR
 */
export async function textIfPresent(file: string): Promise<string | undefined> {
  const bytes = await readFileIfPresent(file);
  if (bytes === undefined) return undefined;
  const read = peopleText(bytes);
  if ('text' in read) return read.text;
  throw new StateError('READ_ERROR', `${file} ${faultWords(read.fault)}`, { hint: SAVE_AS_UTF8 });
}

/** To be called before the kit is removed. @throws {StateError} */
export async function keepRecoveryCode(stateDirectory: string): Promise<void> {
  const code = await kitRecoveryCode(stateDirectory);
  if (code !== undefined) await writeFileAtomically(join(stateDirectory, 'recovery-code'), `${code}\n`);
}

/** A damaged code is ignored, as the passphrase opens the repository without it. */
function isWhole(code: string): boolean {
  try {
    return secretOf(code).kind === 'recovery';
  } catch (error) {
    if (error instanceof RepositoryError) return false;
    throw error;
  }
}

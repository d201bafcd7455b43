/** What of the recovery kit the agent keeps, so that the kit opens the repositories that it makes at other places too. */
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.ts';
import { RepositoryError } from '../base/errors.ts';
import { secretOf } from '../repository/typed-secret.ts';

/** Undefined where no kit was made here. @throws {StateError} */
export async function kitPassphrase(stateDirectory: string): Promise<string | undefined> {
  return (await readFileIfPresent(join(stateDirectory, 'passphrase')))?.toString().trim();
}

/**
 * The kit that still lies here counts where no file of its own has it: earlier versions wrote none. Undefined when neither
 * has one.
 * @throws {StateError}
 */
export async function kitRecoveryCode(stateDirectory: string): Promise<string | undefined> {
  const kept = (await readFileIfPresent(join(stateDirectory, 'recovery-code')))?.toString().trim();
  if (kept !== undefined) return isWhole(kept) ? kept : undefined;
  const kit = (await readFileIfPresent(join(stateDirectory, 'recovery-kit.txt')))?.toString() ?? '';
  const written = /^ *Recovery code +(\S+) *$/m.exec(kit)?.[1];
  return written !== undefined && isWhole(written) ? written : undefined;
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

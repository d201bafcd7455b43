/** Stores a secret that somebody typed in a file of its own in the state directory, for the settings to refer to. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/atomic-file.ts';
import { RequestError } from '../../base/errors.ts';
import type { SecretReference } from '../../config/settings.ts';

/** The name of such a file: random, so that any mention of it is a reference. */
export const SECRET_FILE = /^[0-9a-f]{32}$/;

export function keptSecretsIn(stateDirectory: string): string {
  return join(stateDirectory, 'secrets');
}

/** @throws {RequestError} for half of a character; {StateError} */
export async function keepSecret(
  stateDirectory: string,
  secret: string,
): Promise<SecretReference & { readonly file: string }> {
  if (!secret.isWellFormed())
    throw new RequestError('INVALID_REQUEST', 'The secret contains half of a character', {
      hint: 'Enter it again.',
    });
  const directory = keptSecretsIn(stateDirectory);
  const file = join(directory, randomBytes(16).toString('hex'));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Readers drop one line break at the end, so a line break that was typed is kept.
  await writeFileAtomically(file, `${secret}\n`);
  return { file };
}

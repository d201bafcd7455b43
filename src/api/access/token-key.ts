/** The installation's own key, created at the first start. Each use gets its own key derived from it. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { StateError } from '../../base/errors.ts';
import { createPrivateFile, readPrivateFile, requirePrivateDirectory } from './private-file.ts';

const KEY_BYTES = 32;

export interface ApiKeys {
  /** Signs access tokens. */
  readonly tokens: Uint8Array;
  /** Keys the hashes of secrets: without it, whoever can write to the database still cannot create a valid secret. */
  readonly secrets: Uint8Array;
  readonly cursors: Uint8Array;
  /** As `secrets`, for the secret of the WebDAV folder of snapshots. */
  readonly webdav: Uint8Array;
}

/**
 * Reads `token.key` in the state directory, or creates it.
 * @throws {StateError} when directory or file are open to others or belong to another user, or the file is damaged
 */
export async function openApiKeys(stateDirectory: string): Promise<ApiKeys> {
  await requirePrivateDirectory(stateDirectory);
  const path = join(stateDirectory, 'token.key');
  const key = (await readPrivateFile(path, KEY_BYTES)) ?? (await makeKey(path));
  return {
    tokens: derive(key, 'access tokens'),
    secrets: derive(key, 'secrets of credentials'),
    cursors: derive(key, 'cursors'),
    webdav: derive(key, 'secret of the folder of snapshots'),
  };
}

async function makeKey(path: string): Promise<Buffer> {
  await createPrivateFile(path, randomBytes(KEY_BYTES));
  const key = await readPrivateFile(path, KEY_BYTES);
  if (key === undefined) {
    throw new StateError('READ_ERROR', `${path} disappeared right after it was created`, {
      hint: 'Check what else writes to the state directory.',
    });
  }
  return key;
}

function derive(key: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), `holdfast api v1: ${use}`, KEY_BYTES));
}

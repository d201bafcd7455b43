/**
 * Guards the settings that no request may change. Whoever holds a token may use the agent, but with these settings
 * could run commands as the agent's user, have the agent send its secrets elsewhere, or lift the limits that the
 * settings put on tokens. They are changed on the machine: in the file, or with the command line.
 */
import { isDeepStrictEqual } from 'node:util';
import { holdfast } from '../../base/holdfast-command.ts';
import { shownKeyPath, type KeyPath } from '../../config/config-error.ts';
import type { FilledConfig } from '../../config/schema.ts';
import { ApiError } from '../wire/api-error.ts';

/** @throws {ApiError} FORBIDDEN, naming the first guarded setting that differs */
export function requireUnguarded(present: FilledConfig, wanted: FilledConfig): void {
  requireSameLimits(present, wanted);
  for (const [name, destination] of Object.entries(wanted.destinations)) {
    if (!holdsSecrets(destination)) continue;
    const known = Object.hasOwn(present.destinations, name) ? present.destinations[name] : undefined;
    requireSame(['destinations', name], known, destination);
  }
  const { ntfy, webhook, email } = wanted.notices;
  // Changing where a secret is sent would reveal the secret.
  if (ntfy !== null && ntfy.token !== null) requireSame(['notices', 'ntfy'], present.notices.ntfy, ntfy);
  if (webhook !== null && webhook.secret !== null)
    requireSame(['notices', 'webhook'], present.notices.webhook, webhook);
  if (email !== null && email.password !== null)
    requireSame(['notices', 'email'], present.notices.email, email);
}

type FilledDestination = FilledConfig['destinations'][string];

/** Whether the destination refers to secrets, for the repository or for access, or names a program that accesses it. */
function holdsSecrets({ passphrase, access }: FilledDestination): boolean {
  const { s3, sftp, webdav, azblob, gs, rclone } = access ?? {};
  const guarded = [
    passphrase,
    s3?.secretAccessKey,
    s3?.sessionToken,
    sftp?.keyPassphrase,
    sftp?.password,
    webdav?.password,
    webdav?.token,
    azblob?.accountKey,
    azblob?.sasToken,
    gs?.credentials,
    rclone?.program,
    rclone?.configFile,
    rclone?.configPassword,
  ];
  return guarded.some((one) => one !== null && one !== undefined);
}

/**
 * Checks the settings that neither tokens nor the page may change.
 * @throws {ApiError} FORBIDDEN
 */
export function requireSameLimits(present: FilledConfig, wanted: FilledConfig): void {
  requireSame(['plan'], present.plan, wanted.plan);
  requireSame(['restore', 'allowedRoots'], present.restore.allowedRoots, wanted.restore.allowedRoots);
  if (present.requireEncryption) requireSame(['requireEncryption'], true, wanted.requireEncryption);
  for (const [index, { path, hooks }] of wanted.sources.entries()) {
    const known = present.sources.filter((source) => source.path === path);
    for (const name of ['before', 'after'] as const) {
      const command = hooks[name];
      if (command === null || known.some((source) => source.hooks[name] === command)) continue;
      throw guarded(['sources', index, 'hooks', name]);
    }
  }
}

function requireSame(path: KeyPath, present: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(present, wanted)) throw guarded(path);
}

function onTheMachine(path: string): string {
  return `Change it on the computer itself: in the configuration file, or with: ${holdfast`config set ${path} VALUE`}`;
}

export function guarded(path: KeyPath, hint?: string): ApiError {
  const shown = shownKeyPath(path);
  return new ApiError('FORBIDDEN', `The setting ${shown} cannot be changed by a request`, {
    hint: hint ?? onTheMachine(shown),
    details: { path: shown },
  });
}

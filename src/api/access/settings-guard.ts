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

/**
 * @param written what the request holds of `wanted`, which has the defaults of everything else
 * @throws {ApiError} FORBIDDEN, naming the first guarded setting that differs
 */
export function requireUnguarded(present: FilledConfig, wanted: FilledConfig, written: object): void {
  requireSameLimits(present, wanted, written);
  for (const [name, destination] of Object.entries(wanted.destinations)) {
    if (!holdsSecrets(destination)) continue;
    const known = Object.hasOwn(present.destinations, name) ? present.destinations[name] : undefined;
    requireSame(['destinations', name], { present: known, wanted: destination }, written);
  }
  const { ntfy, webhook, email } = wanted.notices;
  // Changing where a secret is sent would reveal the secret.
  if (ntfy !== null && ntfy.token !== null)
    requireSame(['notices', 'ntfy'], { present: present.notices.ntfy, wanted: ntfy }, written);
  if (webhook !== null && webhook.secret !== null)
    requireSame(['notices', 'webhook'], { present: present.notices.webhook, wanted: webhook }, written);
  if (email !== null && email.password !== null)
    requireSame(['notices', 'email'], { present: present.notices.email, wanted: email }, written);
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
export function requireSameLimits(present: FilledConfig, wanted: FilledConfig, written: object): void {
  requireSame(['plan'], { present: present.plan, wanted: wanted.plan }, written);
  const roots = { present: present.restore.allowedRoots, wanted: wanted.restore.allowedRoots };
  requireSame(['restore', 'allowedRoots'], roots, written);
  if (present.requireEncryption)
    requireSame(['requireEncryption'], { present: true, wanted: wanted.requireEncryption }, written);
  for (const [index, { path, hooks }] of wanted.sources.entries()) {
    const known = present.sources.filter((source) => source.path === path);
    for (const name of ['before', 'after'] as const) {
      const command = hooks[name];
      if (command === null || known.some((source) => source.hooks[name] === command)) continue;
      throw guarded(['sources', index, 'hooks', name]);
    }
  }
}

interface Change {
  readonly present: unknown;
  readonly wanted: unknown;
}

function requireSame(path: KeyPath, change: Change, written: object): void {
  if (isDeepStrictEqual(change.present, change.wanted)) return;
  const there = path.reduce<unknown>((value, name) => partOf(value, name), written);
  throw leftOut(path, path, change, there) ?? guarded(path);
}

/**
 * The error for a change that nobody asked for: the request lacks the setting, or a part of it, which would get its
 * default. Undefined when the request names what differs.
 */
function leftOut(
  asked: KeyPath,
  path: KeyPath,
  { present, wanted }: Change,
  written: unknown,
): ApiError | undefined {
  if (written === undefined) {
    const value = typeof wanted === 'string' || typeof wanted === 'boolean' ? String(wanted) : 'its default';
    const shown = shownKeyPath(path);
    return new ApiError('FORBIDDEN', `The request leaves out ${shown}, which would set it back to ${value}`, {
      hint: 'Send back what GET /settings gave.',
      details: { path: shownKeyPath(asked) },
    });
  }
  const differing = namesOf(wanted).find(
    (name) => !isDeepStrictEqual(partOf(present, name), partOf(wanted, name)),
  );
  if (differing === undefined || present === undefined || present === null) return undefined;
  const change = { present: partOf(present, differing), wanted: partOf(wanted, differing) };
  return leftOut(asked, [...path, differing], change, partOf(written, differing));
}

function namesOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function partOf(value: unknown, name: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[name];
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

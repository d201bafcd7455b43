/** How commands reach destinations: with the person's own environment, and the access that the settings have. */
import { homedir } from 'node:os';
import { resolveAccess } from '../../config/access.ts';
import { resolveSecret } from '../../config/secret.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { textIfPresent } from '../../daemon/places/kit-secrets.ts';
import { directoryOf } from '../../destination/location.ts';
import type { OpenOptions } from '../../destination/open/open.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';
import type { Context } from '../command/context.ts';
import { readMachineKey, statePaths } from '../command/state-directory.ts';

/** For a place that is named by its URL. */
export function reachOf({ env }: Pick<Context, 'env'>): OpenOptions {
  return { person: { env, home: homedir() } };
}

/** For a place of the settings. @throws {ConfigError} when a secret is unavailable */
export async function reachOfSettings(
  { access }: DestinationSettings,
  { clock, env, signal }: Pick<Context, 'clock' | 'env' | 'signal'>,
): Promise<OpenOptions> {
  return {
    ...reachOf({ env }),
    access: await resolveAccess(access, { env, home: homedir(), clock }, signal),
  };
}

/**
 * What opens the repository at a place of the settings: the passphrase, recovery code or write-only key that they name,
 * the machine key for the embedded repository, else the passphrase of the recovery kit. Undefined when there is none of
 * these.
 * @throws {ConfigError} {StateError}
 * @throws {RepositoryError} for a code with a typing mistake
 */
export async function secretOfSettings(
  { passphrase, url }: DestinationSettings,
  { env, clock, signal }: Pick<Context, 'clock' | 'env' | 'signal'>,
): Promise<Secret | undefined> {
  const paths = statePaths(env);
  if (passphrase !== null) {
    const found = await resolveSecret(passphrase, { env, home: homedir(), clock }, signal);
    return secretOf(found.reveal());
  }
  if (directoryOf(url) === paths.repository) {
    const key = await readMachineKey(paths);
    return key === undefined ? undefined : { kind: 'machine', secret: key };
  }
  const kept = await textIfPresent(paths.passphrase);
  return kept === undefined ? undefined : { kind: 'passphrase', text: kept.trim() };
}

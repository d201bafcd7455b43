/** What commands reach destinations with: the person's own environment, and the access of the settings. */
import { homedir } from 'node:os';
import { resolveAccess } from '../config/access.ts';
import type { DestinationSettings } from '../config/settings.ts';
import type { OpenOptions } from '../destination/open.ts';
import type { Context } from './context.ts';

/** For a place that is named by its URL. */
export function reachOf({ env }: Pick<Context, 'env'>): OpenOptions {
  return { person: { env, home: homedir() } };
}

/** For a place of the settings. @throws {ConfigError} when a secret cannot be had */
export async function reachOfSettings(
  { access }: DestinationSettings,
  { clock, env, signal }: Pick<Context, 'clock' | 'env' | 'signal'>,
): Promise<OpenOptions> {
  return {
    ...reachOf({ env }),
    access: await resolveAccess(access, { env, home: homedir(), clock }, signal),
  };
}

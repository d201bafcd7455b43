/** The notifier, set up from the settings and again whenever they change. */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { ConfigSource } from '../config/config-source.ts';
import { resolveSecret, type SecretContext } from '../config/secret.ts';
import type { SecretReference } from '../config/settings.ts';
import { Notifier } from '../notify/notifier.ts';
import { sendersOf } from '../notify/senders.ts';

export async function openNotifier(
  config: ConfigSource,
  secrets: SecretContext,
  clock: Clock,
  log: Logger,
  redact: (text: string) => string,
): Promise<Notifier> {
  const notifier = new Notifier([], {
    clock,
    host: hostname(),
    redact,
    log: (line) => log.warn(line, 'a notice could not be delivered'),
  });
  try {
    await replaceSenders(notifier, config, secrets, clock);
  } catch (error) {
    log.error({ err: error }, 'notices cannot be sent');
  }
  return notifier;
}

export async function replaceSenders(
  notifier: Notifier,
  { current }: ConfigSource,
  secrets: SecretContext,
  clock: Clock,
): Promise<void> {
  const { signal } = new AbortController();
  const secret = async (reference: SecretReference | null | undefined) =>
    reference === null || reference === undefined ? null : await resolveSecret(reference, secrets, signal);
  const { ntfy, webhook, email } = current.notices;
  const found = {
    ntfyToken: await secret(ntfy?.token),
    webhookSecret: await secret(webhook?.secret),
    emailPassword: await secret(email?.password),
  };
  notifier.replace(sendersOf(current.notices, found, clock));
}

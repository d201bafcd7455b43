/** The notifier, set up from the settings and again whenever they change. */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { ConfigSource } from '../config/config-source.ts';
import { resolveSecret, type SecretContext } from '../config/secret.ts';
import type { NoticeSettings, SecretReference } from '../config/settings.ts';
import { Notifier } from '../notify/notifier.ts';
import { sendersOf, type NoticeSecrets } from '../notify/senders.ts';

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
  notifier.replace(
    sendersOf(current.notices, await secretsOfNotices(current.notices, secrets, signal), clock),
  );
}

/** What the references lead to. @throws {ConfigError} {StateError} when one cannot be had */
export async function secretsOfNotices(
  { ntfy, webhook, email }: NoticeSettings,
  secrets: SecretContext,
  signal: AbortSignal,
): Promise<NoticeSecrets> {
  const secret = async (reference: SecretReference | null | undefined) =>
    reference === null || reference === undefined ? null : await resolveSecret(reference, secrets, signal);
  return {
    ntfyToken: await secret(ntfy?.token),
    webhookSecret: await secret(webhook?.secret),
    emailPassword: await secret(email?.password),
  };
}

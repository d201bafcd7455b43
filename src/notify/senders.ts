/** Creates the senders from the settings. */
import type { Clock } from '../base/clock.ts';
import { HoldfastError } from '../base/errors.ts';
import type { NoticeSettings } from '../config/settings.ts';
import { desktopSender } from './desktop.ts';
import { emailSender } from './email.ts';
import { healthchecksSender } from './healthchecks.ts';
import { ntfySender } from './ntfy.ts';
import { DeliveryError, type Secret, type Sender } from './sender.ts';
import { webhookSender } from './webhook.ts';

/** Looks up a secret. @throws {HoldfastError} when it is unavailable */
export type SecretSource = (signal: AbortSignal) => Promise<Secret>;

/** Lookups for the secrets of the settings; null where there is none. */
export interface NoticeSecrets {
  readonly ntfyToken: SecretSource | null;
  readonly webhookSecret: SecretSource | null;
  readonly emailPassword: SecretSource | null;
}

export function sendersOf(settings: NoticeSettings, secrets: NoticeSecrets, clock: Clock): readonly Sender[] {
  const { healthchecks, ntfy, webhook, email, desktop } = settings;
  const { ntfyToken, webhookSecret, emailPassword } = secrets;
  return [
    ...(healthchecks === null ? [] : [healthchecksSender(healthchecks.url)]),
    ...(ntfy === null ? [] : [withSecret(ntfyToken, (token) => ntfySender(ntfy.url, token))]),
    ...(webhook === null
      ? []
      : [withSecret(webhookSecret, (secret) => webhookSender(webhook.url, secret, clock))]),
    ...(email === null ? [] : [withSecret(emailPassword, (password) => emailSender({ ...email, password }))]),
    ...(desktop ? [desktopSender()] : []),
  ];
}

/**
 * A sender that looks up its secret for each notice. A secret that is unavailable when the agent starts, for example on
 * a disk that is mounted later, does not delay others, and is used when it becomes available.
 */
function withSecret(source: SecretSource | null, make: (secret: Secret | null) => Sender): Sender {
  const plain = make(null);
  if (source === null) return plain;
  return {
    ...plain,
    send: async (notice, signal) => await make(await lookUp(source, signal)).send(notice, signal),
    close: () => undefined,
  };
}

async function lookUp(source: SecretSource, signal: AbortSignal): Promise<Secret> {
  try {
    return await source(signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof HoldfastError)) throw cause;
    throw new DeliveryError(cause.message, { hint: cause.hint, retry: 'later', cause });
  }
}

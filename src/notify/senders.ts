/** The senders that the settings ask for. */
import type { Clock } from '../base/clock.ts';
import type { NoticeSettings } from '../config/settings.ts';
import { emailSender } from './email.ts';
import { healthchecksSender } from './healthchecks.ts';
import { ntfySender } from './ntfy.ts';
import type { Secret, Sender } from './sender.ts';
import { webhookSender } from './webhook.ts';

/** What the references of the settings lead to; null where there is none. */
export interface NoticeSecrets {
  readonly ntfyToken: Secret | null;
  readonly webhookSecret: Secret | null;
  readonly emailPassword: Secret | null;
}

export function sendersOf(settings: NoticeSettings, secrets: NoticeSecrets, clock: Clock): readonly Sender[] {
  const { healthchecks, ntfy, webhook, email } = settings;
  return [
    ...(healthchecks === null ? [] : [healthchecksSender(healthchecks.url)]),
    ...(ntfy === null ? [] : [ntfySender(ntfy.url, secrets.ntfyToken)]),
    ...(webhook === null ? [] : [webhookSender(webhook.url, secrets.webhookSecret, clock)]),
    ...(email === null ? [] : [emailSender({ ...email, password: secrets.emailPassword })]),
  ];
}

/** Creates the notifier from the settings, and replaces its senders when they change. */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { holdfast } from '../../base/holdfast-command.ts';
import type { Clock } from '../../base/clock.ts';
import type { ConfigSource } from '../../config/config-source.ts';
import { resolveSecret, type SecretContext } from '../../config/secret.ts';
import type { NoticeSettings, SecretReference } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import { quietHoursUntil } from '../../jobs/conditions.ts';
import type { ToldBook } from '../../notify/attention.ts';
import { Notifier } from '../../notify/notifier.ts';
import type { Sender } from '../../notify/sender.ts';
import { sendersOf, type NoticeSecrets, type SecretSource } from '../../notify/senders.ts';
import type { WaitingBook } from '../../notify/delivery.ts';

export interface NotifierParts {
  readonly config: Pick<ConfigSource, 'current'>;
  readonly secrets: SecretContext;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly redact: (text: string) => string;
  readonly notes: Pick<SettingStore, 'get' | 'set'>;
  readonly trouble: (error: unknown) => void;
}

export function openNotifier(parts: NotifierParts): Notifier {
  const { config, secrets, clock, log, redact, notes, trouble } = parts;
  return new Notifier(sendersNow(config, secrets, clock), {
    clock,
    told: toldIn(notes, trouble),
    waiting: bookIn('notices waiting', notes, trouble),
    held: bookIn('notices held', notes, trouble),
    quietUntil() {
      const { notices, timeZone } = config.current;
      return quietHoursUntil(notices.quietHours, clock.now(), timeZone);
    },
    host: hostname(),
    redact,
    log: (line) => log.warn(line, 'a notice could not be delivered'),
  });
}

const TOLD = 'notices told';

/** Stores what was told in the state database. If that fails, it is remembered only as long as the agent runs. */
export function toldIn(
  settings: Pick<SettingStore, 'get' | 'set'>,
  trouble: (error: unknown) => void,
): ToldBook {
  return {
    read: () => settings.get(TOLD),
    write(text) {
      try {
        if (text !== settings.get(TOLD)) settings.set(TOLD, text);
      } catch (error) {
        trouble(error);
      }
    },
  };
}

/** Stores notices by receiver, in the same way. */
function bookIn(
  what: string,
  settings: Pick<SettingStore, 'get' | 'set'>,
  trouble: (error: unknown) => void,
): WaitingBook {
  const keyOf = (sender: string): string => `${what}: ${sender}`;
  return {
    read: (sender) => settings.get(keyOf(sender)),
    write(sender, text) {
      try {
        if (text !== settings.get(keyOf(sender))) settings.set(keyOf(sender), text);
      } catch (error) {
        trouble(error);
      }
    },
  };
}

export function replaceSenders(
  notifier: Notifier,
  config: Pick<ConfigSource, 'current'>,
  secrets: SecretContext,
  clock: Clock,
): void {
  notifier.replace(sendersNow(config, secrets, clock));
}

function sendersNow(
  { current }: Pick<ConfigSource, 'current'>,
  secrets: SecretContext,
  clock: Clock,
): readonly Sender[] {
  return sendersOf(current.notices, secretsOfNotices(current.notices, secrets), clock);
}

/** Lookups for the secrets that the settings of the notices refer to. */
export function secretsOfNotices(
  { ntfy, webhook, email }: NoticeSettings,
  secrets: SecretContext,
): NoticeSecrets {
  const source = (reference: SecretReference | null | undefined): SecretSource | null =>
    reference === null || reference === undefined
      ? null
      : async (signal) => await resolveSecret(reference, secrets, signal);
  return {
    ntfyToken: source(ntfy?.token),
    webhookSecret: source(webhook?.secret),
    emailPassword: source(email?.password),
  };
}

/** Anybody on the machine may read these checks, so they contain no addresses, and not the error, which may name a file. */
export function noticeChecks(notifier: Pick<Notifier, 'status'>): readonly StatusCheck[] {
  const failing = notifier.status().filter(({ state }) => state === 'failing');
  if (failing.length === 0) return [];
  const names = failing.map(({ name }) => name).join(' and ');
  const waiting = failing.reduce((sum, one) => sum + one.waiting, 0);
  const left =
    waiting === 0 ? '' : `, ${waiting === 1 ? '1 is' : `${waiting} are`} waiting and will be tried again`;
  const message = `Notices by ${names} could not be delivered${left}; ${holdfast`logs`} says why.`;
  return [{ name: 'notices', status: 'warning', message }];
}

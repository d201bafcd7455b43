/** Sends a test notice by one channel with the settings in force, bypassing the notices that wait. */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { isTimeout, withDeadline } from '../../base/paced-work.ts';
import { HoldfastError, RequestError } from '../../base/errors.ts';
import type { SecretContext } from '../../config/secret.ts';
import type { NoticeSettings } from '../../config/settings.ts';
import { wordsOf } from '../../notify/lane.ts';
import { createNotice } from '../../notify/notice.ts';
import { sendersOf } from '../../notify/senders.ts';
import { secretsOfNotices } from './notices.ts';

export type NoticeChannel = 'healthchecks' | 'ntfy' | 'webhook' | 'email' | 'desktop';

/** Milliseconds to wait for the receiver. Mail takes longer, as mail servers delay unknown senders on purpose. */
const PATIENCE_MS = 25_000;
const PATIENCE_WITH_MAIL_MS = 65_000;

/**
 * Sends the test. Returns null when it was sent, otherwise the reason in words.
 * @throws {RequestError} INVALID_REQUEST when the channel is not set up
 */
export async function testNotice(
  channel: NoticeChannel,
  notices: NoticeSettings,
  parts: { readonly secrets: SecretContext; readonly clock: Clock },
  signal: AbortSignal,
): Promise<string | null> {
  if (notices[channel] === null || notices[channel] === false)
    throw new RequestError('INVALID_REQUEST', `No notices are sent by ${channel}`, {
      hint: 'Set it up and save it first: the test uses the saved settings.',
      details: { field: 'channel' },
    });
  const alone = { ...notices, ...NOBODY, [channel]: notices[channel] };
  const patienceMs = channel === 'email' ? PATIENCE_WITH_MAIL_MS : PATIENCE_MS;
  try {
    await withDeadline(patienceMs, async (deadline) => await sendBy(alone, parts, deadline), signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (isTimeout(error) && !(error instanceof HoldfastError))
      return `No confirmation came within ${patienceMs / 1000} s. The message may still arrive, as notices wait longer. If it does not, check the address and the network.`;
    if (!(error instanceof HoldfastError)) throw error;
    return wordsOf(error);
  }
}

const NOBODY = { healthchecks: null, ntfy: null, webhook: null, email: null, desktop: false };

async function sendBy(
  notices: NoticeSettings,
  { secrets, clock }: { readonly secrets: SecretContext; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const host = hostname();
  const text = `This is a test message of Holdfast on ${host}. Notices arrive here.`;
  const senders = sendersOf(notices, secretsOfNotices(notices, secrets), clock);
  try {
    for (const sender of senders)
      await sender.send(createNotice({ kind: 'test', host, text }, clock), signal);
  } finally {
    for (const sender of senders) sender.close();
  }
}

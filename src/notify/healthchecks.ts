/** Sends pings in the way of healthchecks.io and compatible services. A monitor that misses a ping raises the alarm itself. */
import { createHash } from 'node:crypto';
import { DeliveryError, endOf, type Sender } from './sender.ts';
import { post } from './http-post.ts';
import { bodyOf, type Notice } from './notice.ts';

/** Receivers keep no more bytes of a ping. */
const BODY_BYTES = 100_000;

/** @param url the ping address of the check; it contains a key, so it is a secret */
export function healthchecksSender(url: string): Sender {
  async function send(notice: Notice, signal: AbortSignal): Promise<void> {
    const reply = await post(
      {
        url: pingUrl(url, notice),
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: endOf([...notice.stillFailing, bodyOf(notice), ...notice.log].join('\n'), BODY_BYTES),
      },
      signal,
    );
    // Some versions answer an unknown check with status 200.
    if (!/not found/i.test(reply)) return;
    throw new DeliveryError('The ping service does not know this address', {
      hint: 'Copy the ping address from the check again.',
    });
  }

  // Not kept for later: a late ping would state the present condition wrongly.
  return { name: 'healthchecks', everything: true, keeps: false, send, close: () => undefined };
}

/** Appends the signal to the path, as an address may have a query, such as `…/backups?create=1`. */
function pingUrl(url: string, notice: Notice): string {
  const ping = URL.parse(url);
  // An invalid address is refused by `post`.
  if (ping === null) return url;
  ping.pathname = `${ping.pathname.replace(/\/+$/, '')}${signalOf(notice)}`;
  if (notice.job !== null) ping.searchParams.set('rid', runId(notice.job.id));
  ping.hash = '';
  return ping.href;
}

/** The suffix for the ping address. A warning counts as success: its snapshot is complete except for the files named. */
function signalOf({ kind, job, stillFailing }: Notice): string {
  switch (kind) {
    case 'backup.started':
      return '/start';
    case 'backup.completed':
    case 'backup.warning':
      // The monitor's light stands for the whole machine.
      return stillFailing.length === 0 ? '' : '/fail';
    case 'backup.failed': {
      const status = job?.exitStatus ?? 0;
      return status > 0 && status < 256 ? `/${status}` : '/fail';
    }
    case 'check.failed':
    case 'drill.failed':
    case 'alarm':
    case 'absence':
    case 'state.failed':
    case 'destination.gone':
      return '/fail';
    case 'restore.completed':
    case 'restore.failed':
    case 'prune.failed':
    case 'held':
    case 'test':
      // Logged without a change of the check's state.
      return '/log';
  }
}

/** A UUID for the job, by which the receiver matches start and end of a run. */
function runId(jobId: string): string {
  const digest = createHash('sha256').update(jobId).digest().subarray(0, 16);
  // Version 8: a custom format (RFC 9562, section 5.8).
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Pings as healthchecks.io and its self-hosted kin take them: a monitor that misses one raises the alarm itself. */
import { createHash } from 'node:crypto';
import { endOf } from './cut-text.ts';
import { post } from './http-post.ts';
import { bodyOf, type Notice } from './notice.ts';
import { DeliveryError, type Sender } from './sender.ts';

/** Receivers keep no more of a ping. */
const BODY_BYTES = 100_000;

/** `url`: the ping address of the check, with its key. It is a secret of its own. */
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
    throw new DeliveryError('The receiver of pings knows no check of this address', {
      hint: 'Copy the ping address from the check again.',
    });
  }

  // A late ping would say that all is well now, or not.
  return { name: 'healthchecks', everything: true, keeps: false, send, close: () => undefined };
}

/** The signal goes behind the path: an address may have a query, as in `…/backups?create=1`. */
function pingUrl(url: string, notice: Notice): string {
  const ping = URL.parse(url);
  // What is no address is refused by the one who posts.
  if (ping === null) return url;
  ping.pathname = `${ping.pathname.replace(/\/+$/, '')}${signalOf(notice)}`;
  if (notice.job !== null) ping.searchParams.set('rid', runId(notice.job.id));
  ping.hash = '';
  return ping.href;
}

/** What is appended to the ping address. A warning is a success: its snapshot is complete but for the files named. */
function signalOf({ kind, job, stillFailing }: Notice): string {
  switch (kind) {
    case 'backup.started':
      return '/start';
    case 'backup.completed':
    case 'backup.warning':
      // The light of the monitor is of the whole machine.
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
      return '/fail';
    case 'restore.completed':
    case 'restore.failed':
    case 'prune.failed':
    case 'test':
      // Noted, without a change of state.
      return '/log';
  }
}

/** A UUID for the job: start and end of one run are told by it. */
function runId(jobId: string): string {
  const digest = createHash('sha256').update(jobId).digest().subarray(0, 16);
  // Version 8: made by a rule of one's own (RFC 9562, section 5.8).
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

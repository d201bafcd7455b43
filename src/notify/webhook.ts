/** Sends notices to other programs: as JSON, signed by Standard Webhooks 1.0. */
import type { Clock } from '../base/clock.ts';
import { webhookHeaders } from '../base/web/standard-webhooks.ts';
import { endOf, type Secret, type Sender } from './sender.ts';
import { post } from './http-post.ts';
import { type Notice, severityOf, titleOf } from './notice.ts';

/** Receivers often take no more than 256 KB. */
const LOG_BYTES = 100_000;

/**
 * Without a secret the requests are not signed. A secret that begins with `whsec_` is base64 after that prefix; any
 * other secret is used as its UTF-8 bytes.
 */
export function webhookSender(url: string, secret: Secret | null, clock: Clock): Sender {
  async function send(notice: Notice, signal: AbortSignal): Promise<void> {
    const body = JSON.stringify(payloadOf(notice));
    const message = { id: notice.id, sentAt: clock.now(), body };
    await post(
      {
        url,
        headers: webhookHeaders(message, secret === null ? [] : [secret.reveal()]),
        body,
        mayAnswerPage: true,
      },
      signal,
    );
  }

  return { name: 'webhook', everything: true, keeps: true, send, close: () => undefined };
}

function payloadOf(notice: Notice): object {
  const { job } = notice;
  return {
    type: notice.kind,
    timestamp: new Date(notice.at).toISOString(),
    data: {
      id: notice.id,
      severity: severityOf(notice.kind),
      title: titleOf(notice),
      text: notice.text,
      host: notice.host,
      source: notice.source,
      destination: notice.destination,
      job:
        job === null
          ? null
          : {
              id: job.id,
              duration_seconds: job.durationMs === null ? null : job.durationMs / 1000,
              exit_status: job.exitStatus,
              error_code: job.errorCode,
            },
      log: endOf(notice.log.join('\n'), LOG_BYTES),
    },
  };
}

/** Sends messages to phones and desktops by ntfy. */
import { type Secret, type Sender, startOf } from './sender.ts';
import { post } from './http-post.ts';
import { bodyOf, type Notice, type Severity, severityOf, titleOf } from './notice.ts';

/** ntfy turns a longer message into an attachment that has to be downloaded. */
const MESSAGE_BYTES = 4000;
const TITLE_BYTES = 250;

/** 1 to 5; from 4 on a phone makes a noise. */
const PRIORITY: Readonly<Record<Severity, string>> = { good: '2', attention: '3', bad: '4' };
/** ntfy shows these as emoji. */
const TAG: Readonly<Record<Severity, string>> = {
  good: 'white_check_mark',
  attention: 'warning',
  bad: 'rotating_light',
};

/** @param url the address of the topic */
export function ntfySender(url: string, token: Secret | null): Sender {
  async function send(notice: Notice, signal: AbortSignal): Promise<void> {
    const severity = severityOf(notice.kind);
    await post(
      {
        url,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          title: headerText(startOf(titleOf(notice), TITLE_BYTES)),
          priority: PRIORITY[severity],
          tags: TAG[severity],
          ...(token === null ? {} : { authorization: `Bearer ${token.reveal()}` }),
        },
        body: startOf(bodyOf(notice), MESSAGE_BYTES),
      },
      signal,
    );
  }

  return { name: 'ntfy', everything: false, keeps: true, send, close: () => undefined };
}

/** Headers are ASCII; other text is sent as encoded words (RFC 2047, at most 75 characters each). */
function headerText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const words: string[] = [];
  for (let rest = text; rest !== '';) {
    // 45 bytes are 60 characters of base64.
    const part = startOf(rest, 45);
    words.push(`=?UTF-8?B?${Buffer.from(part, 'utf8').toString('base64')}?=`);
    rest = rest.slice(part.length);
  }
  return words.join(' ');
}

/** Notices about what was just done. A form redirects to a URL that names its notice, and the page at that URL shows it. */
import { Type } from '../../base/schema-type.ts';
import type { Notice } from './page.tsx';

export const done = { done: Type.Optional(Type.String({ maxLength: 40 })) };

export const DoneQuery = Type.Object(done, { additionalProperties: false });

const DONE: Readonly<Record<string, string>> = {
  password: 'The password was changed. All other sessions have ended.',
  'factor-set': 'The second factor is set up: from now on, signing in asks for a code.',
  'factor-removed': 'The second factor was removed.',
  revoked: 'The API key was revoked. Requests with it are refused from now on.',
  added: 'The customer was added.',
  suspended: 'The customer is suspended.',
  resumed: 'The customer is active again.',
  plan: 'The plan was changed.',
  device: 'The device was removed.',
  enabled: 'The webhook is enabled.',
  disabled: 'The webhook is disabled.',
  deleted: 'The webhook was deleted.',
  tested: 'A test message is on its way: it appears among the deliveries below.',
  resent: 'The message is sent again.',
};

/** Notice for a form that was sent a second time. */
export const ONCE = 'once';
const ONCE_NOTICE: Notice = {
  kind: 'warning',
  text: 'That form was sent before, and nothing was done a second time. A secret is shown only the first time.',
};

/** The notice with that name; undefined for a name that no form uses. */
export function noticeFor(word: string | undefined): Notice | undefined {
  if (word === ONCE) return ONCE_NOTICE;
  const text = word !== undefined && Object.hasOwn(DONE, word) ? DONE[word] : undefined;
  return text === undefined ? undefined : { kind: 'good', text };
}

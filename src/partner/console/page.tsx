/** Renders the frame of each page, with head, navigation and notice, and sends it with its headers. */
import type { FastifyReply } from 'fastify';
import type { JSX } from 'preact';
import { render } from 'preact-render-to-string';
import { type ConsolePageFiles, consolePageFiles } from '../../api/framework/page-files.ts';
import { Type } from '../../base/schema-type.ts';
import { Button } from '../../ui/components/button.tsx';
import { Top } from '../../ui/components/frame.tsx';
import { Own } from '../../ui/components/own-text.tsx';
import { Notice as NoticeCard } from '../../ui/components/tag.tsx';
import { formTokenField } from './forms.tsx';
import { CONSOLE_PREFIX } from './routes.ts';
import type { Visitor } from './visitor.ts';

export interface PageFacts {
  readonly title: string;
  /** The entry of the navigation that the page belongs to. */
  readonly section?: SectionName;
  /** Absent on pages before sign-in. */
  readonly visitor?: Visitor | undefined;
  /** What has just been done, or failed. */
  readonly notice?: Notice | undefined;
  readonly content: JSX.Element;
}

export interface Notice {
  readonly kind: 'good' | 'warning' | 'bad';
  readonly text: string;
}

const SECTIONS = [
  ['Account', ''],
  ['API', '/api'],
  ['Customers', '/customers'],
  ['Plans', '/plans'],
  ['Usage', '/usage'],
  ['Webhooks', '/webhooks'],
  ['Activity', '/activity'],
] as const;

export type SectionName = (typeof SECTIONS)[number][0];

/** No scripts, no external resources, no framing; forms go only to this origin. */
const CONSOLE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; " +
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export function sendPage(reply: FastifyReply, facts: PageFacts): FastifyReply {
  reply.header('content-security-policy', CONSOLE_POLICY);
  // With no referrer at all, browsers would not send the origin by which forms are verified.
  reply.header('referrer-policy', 'same-origin');
  reply.header('cache-control', 'no-store');
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>${render(document(facts))}`);
}

function document({ title, section, visitor, notice, content }: PageFacts): JSX.Element {
  const { style, icon } = consoleFiles();
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – Holdfast Partner`}</title>
        <link rel="icon" href={`${CONSOLE_PREFIX}${icon.path}`} type="image/svg+xml" />
        <link rel="stylesheet" href={`${CONSOLE_PREFIX}${style.path}`} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        {visitor === undefined ? null : topOf(visitor, section)}
        <main id="main" class={visitor === undefined ? 'small' : undefined}>
          {visitor?.partner.status === 'suspended' ? SUSPENDED : null}
          {notice === undefined ? null : noticeOf(notice)}
          {content}
        </main>
        {visitor === undefined ? null : (
          <footer class="foot">
            All times are UTC. <a href="/docs">Partner API</a>
          </footer>
        )}
      </body>
    </html>
  );
}

function topOf(visitor: Visitor, section: SectionName | undefined): JSX.Element {
  return (
    <Top
      suffix="Partner"
      home={CONSOLE_PREFIX}
      label="Settings"
      navigation={SECTIONS.map(([name, path]) => ({
        label: name,
        href: `${CONSOLE_PREFIX}${path}`,
        isCurrent: name === section,
      }))}
    >
      <span>
        <Own>{visitor.partner.email}</Own>
      </span>
      <form method="post" action={`${CONSOLE_PREFIX}/sign-out`}>
        {formTokenField(visitor)}
        <Button look="plain">Sign out</Button>
      </form>
    </Top>
  );
}

function noticeOf({ kind, text }: Notice): JSX.Element {
  return (
    <NoticeCard look={kind} urgent={kind === 'bad'}>
      <p>{text}</p>
    </NoticeCard>
  );
}

/** A link to the entries after the last one of a list, whose address may have a query; null at its end. */
export function olderLink(path: string, next: string | undefined): JSX.Element | null {
  if (next === undefined) return null;
  return (
    <p class="pages">
      <a
        class="button plain"
        href={`${path}${path.includes('?') ? '&' : '?'}before=${encodeURIComponent(next)}`}
      >
        Older
      </a>
    </p>
  );
}

const SUSPENDED = noticeOf({
  kind: 'warning',
  text: 'This account is suspended, so you can use only this page. Contact the provider of this service.',
});

let known: ConsolePageFiles | undefined;

/**
 * The style sheet and icon of the pages, from the build.
 * @throws {StateError} READ_ERROR when the program was not built completely
 */
export function consoleFiles(): ConsolePageFiles {
  known ??= consolePageFiles();
  return known;
}

export const done = { done: Type.Optional(Type.String({ maxLength: 40 })) };

export const DoneQuery = Type.Object(done, { additionalProperties: false });

const DONE: Readonly<Record<string, string>> = {
  password: 'The password was changed. You are signed out everywhere else.',
  'factor-set': 'The second factor is on. From now on, signing in requires a code.',
  'factor-removed': 'The second factor was removed.',
  revoked: 'The API key was revoked. Requests with it are refused from now on.',
  added: 'The customer was added.',
  changed: 'The customer was changed.',
  'customer-deleted': 'The customer was deleted.',
  suspended: 'The customer is suspended.',
  resumed: 'The customer is active again.',
  plan: 'The plan was changed.',
  device: 'The device was removed.',
  enabled: 'The webhook is enabled.',
  disabled: 'The webhook is disabled.',
  deleted: 'The webhook was deleted.',
  tested: 'A test message is on its way. You can follow it in the deliveries below.',
  resent: 'The message is being sent again.',
};

/** Notice for a form that was sent a second time. */
export const ONCE = 'once';
const ONCE_NOTICE: Notice = {
  kind: 'warning',
  text: 'You already sent that form, so nothing was done a second time. Secrets are shown only the first time.',
};

/**
 * Notices about what was just done. A form redirects to a URL that names its notice, and the page at that URL shows it.
 * The notice with that name; undefined for a name that no form uses.
 */
export function noticeFor(word: string | undefined): Notice | undefined {
  if (word === ONCE) return ONCE_NOTICE;
  const text = word !== undefined && Object.hasOwn(DONE, word) ? DONE[word] : undefined;
  return text === undefined ? undefined : { kind: 'good', text };
}

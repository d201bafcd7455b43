/** The frame of each page: head, navigation, what is told above its contents, and the headers it is sent with. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { formTokenField } from './form-fields.ts';
import { html, type Markup } from './markup.ts';
import { CONSOLE_PREFIX } from './prefix.ts';
import { CONSOLE_STYLE } from './style.ts';
import type { Visitor } from './visitor.ts';

export interface PageFacts {
  readonly title: string;
  /** The entry of the navigation that it belongs to. */
  readonly section?: SectionName;
  /** Absent before signing in. */
  readonly visitor?: Visitor | undefined;
  /** What has just been done, or failed. */
  readonly notice?: Notice | undefined;
  readonly content: Markup;
}

export interface Notice {
  readonly kind: 'good' | 'warning' | 'bad';
  readonly text: string;
}

const SECTIONS = [
  ['Account', ''],
  ['API', '/api'],
  ['Customers', '/customers'],
  ['Usage', '/usage'],
  ['Webhooks', '/webhooks'],
  ['Activity', '/activity'],
] as const;

export type SectionName = (typeof SECTIONS)[number][0];

export interface ConsoleFile {
  readonly path: string;
  /** Media type. */
  readonly type: string;
  readonly text: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M16 2 28 6v9c0 7.5-5 12.6-12 15C9 27.6 4 22.5 4 15V6z" fill="#2f6f62"/>
<path d="m10 16 4.5 4.5L22.5 12" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`;

/** By their contents, so that browsers keep them until they change. */
const STYLE_PATH = `/style-${digest(CONSOLE_STYLE)}.css`;
const ICON_PATH = `/icon-${digest(ICON)}.svg`;

/** What a page is made of beside its text. */
export const CONSOLE_FILES: readonly ConsoleFile[] = [
  { path: STYLE_PATH, type: 'text/css; charset=utf-8', text: CONSOLE_STYLE },
  { path: ICON_PATH, type: 'image/svg+xml', text: ICON },
];

/** No script, nothing from elsewhere, in no frame; forms come back here. */
const CONSOLE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; " +
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export function sendPage(reply: FastifyReply, facts: PageFacts): FastifyReply {
  reply.header('content-security-policy', CONSOLE_POLICY);
  // Forms are known by their origin: with no referrer at all, browsers would not name it.
  reply.header('referrer-policy', 'same-origin');
  reply.header('cache-control', 'no-store');
  return reply.type('text/html; charset=utf-8').send(document(facts).toString());
}

function document({ title, section, visitor, notice, content }: PageFacts): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Holdfast Partner</title>
        <link rel="icon" href="${CONSOLE_PREFIX}${ICON_PATH}" type="image/svg+xml" />
        <link rel="stylesheet" href="${CONSOLE_PREFIX}${STYLE_PATH}" />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the contents</a>
        ${visitor === undefined ? null : topOf(visitor, section)}
        <main id="main" ${visitor === undefined ? html` class="small"` : null}>
          ${visitor?.partner.status === 'suspended' ? SUSPENDED : null}
          ${notice === undefined ? null : noticeOf(notice)} ${content}
        </main>
        ${visitor === undefined ? null : html`<footer class="foot">All times are UTC. <a href="/docs">Partner API</a></footer>`}
      </body>
    </html> `;
}

function topOf(visitor: Visitor, section: SectionName | undefined): Markup {
  return html`<header class="top">
    <div class="bar">
      <a class="brand" href="${CONSOLE_PREFIX}"
        >${mark(26)} <span>Holdfast <small>Partner</small></span></a
      >
      <div class="who">
        <span><bdi>${visitor.partner.email}</bdi></span>
        <form method="post" action="${CONSOLE_PREFIX}/sign-out">
          ${formTokenField(visitor)}<button class="plain">Sign out</button>
        </form>
      </div>
    </div>
    <nav aria-label="Settings">
      <ul>
        ${SECTIONS.map(
          ([name, path]) =>
            html`<li>
              <a href="${CONSOLE_PREFIX}${path}" ${name === section ? html` aria-current="page"` : null}
                >${name}</a
              >
            </li>`,
        )}
      </ul>
    </nav>
  </header>`;
}

export function noticeOf({ kind, text }: Notice): Markup {
  return html`<div class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}"><p>${text}</p></div>`;
}

/** To what comes after the last entry of a list; nothing at its end. */
export function olderLink(path: string, next: string | undefined): Markup | null {
  if (next === undefined) return null;
  return html`<p class="pages">
    <a class="button plain" href="${path}?before=${encodeURIComponent(next)}">Older ones</a>
  </p>`;
}

/** The shield of the product. */
export function mark(size: number): Markup {
  return html`<img src="${CONSOLE_PREFIX}${ICON_PATH}" alt="" width="${size}" height="${size}" />`;
}

const SUSPENDED = noticeOf({
  kind: 'warning',
  text: 'This account is suspended: only this page of it can be used. Ask the provider of this service.',
});

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

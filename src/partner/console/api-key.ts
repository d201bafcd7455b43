/** The API key: none, active or revoked. Its secret is in one response, and never again. */
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../api/api-error.ts';
import type { ApiApp } from '../../api/route.ts';
import { PARTNER_PREFIX } from '../http/prefix.ts';
import type { LatestApiKey, NewApiKey } from '../store/api-keys.ts';
import type { ConsoleParts } from './pages.ts';
import { askFirst, button, field, form, type Problems } from './form-fields.ts';
import { FormBody } from './form.ts';
import { ownAddress } from './guard.ts';
import { html, type Markup } from './markup.ts';
import { DoneQuery, noticeFor, ONCE } from './notices.ts';
import { once, onceField } from './once.ts';
import { type Notice, sendPage } from './page.ts';
import { CONSOLE_PREFIX } from './prefix.ts';
import { PAGE } from './routes.ts';
import { maybeTime, own, shownTime, tag } from './shown.ts';
import { pageActor, visitorOf, type Visitor } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/api`;
const LONGEST_NAME = 100;

export function apiKeyPage(app: ApiApp, { stores, publicUrl }: ConsoleParts): void {
  app.get('/api', { schema: { querystring: DoneQuery }, config: PAGE }, async (request, reply) =>
    show(reply, visitorOf(request), { notice: noticeFor(request.query.done) }),
  );

  app.post('/api/generate', { schema: { body: FormBody }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const name = request.body.text('name');
    if (name === '' || name.length > LONGEST_NAME) {
      const problems = { name: `Give it a name of 1 to ${LONGEST_NAME} characters, such as “billing”.` };
      return await show(reply.code(400), visitor, { problems });
    }
    const { id } = visitor.partner;
    try {
      const generate = async (): Promise<NewApiKey> =>
        await stores.apiKeys.generate(id, name, pageActor(request));
      const made = await once(stores, id, request.body, generate);
      return made === undefined
        ? again(reply)
        : showSecret(reply, visitor, made, ownAddress(request, publicUrl));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'API_KEY_EXISTS') throw error;
      return await show(reply.code(409), visitor, { notice: { kind: 'bad', text: error.message } });
    }
  });

  app.post('/api/regenerate', { schema: { body: FormBody }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { id } = visitor.partner;
    const made = await once(stores, id, request.body, async () => {
      const next = await stores.apiKeys.regenerate(id, pageActor(request));
      return { next };
    });
    if (made === undefined) return again(reply);
    if (made.next === undefined) return await show(reply.code(409), visitor, { notice: NONE });
    return showSecret(reply, visitor, made.next, ownAddress(request, publicUrl));
  });

  app.post('/api/revoke', { schema: { body: FormBody }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    if (await stores.apiKeys.revoke(visitor.partner.id, pageActor(request)))
      return reply.redirect(`${PATH}?done=revoked`, 303);
    return await show(reply.code(409), visitor, { notice: NONE });
  });

  async function show(
    reply: FastifyReply,
    visitor: Visitor,
    { notice, problems = {} }: { readonly notice?: Notice | undefined; readonly problems?: Problems },
  ): Promise<FastifyReply> {
    const latest = await stores.apiKeys.latest(visitor.partner.id);
    return sendPage(reply, {
      title: 'API',
      section: 'API',
      visitor,
      notice,
      content: html`<div class="head">
          <h1>API key</h1>
          <p>
            Programs of yours use it to call the <a href="/docs">Partner API</a>. One key is active at a time.
          </p>
        </div>
        ${latest === undefined ? null : stateCard(visitor, latest)}
        ${latest?.revokedAt === null ? null : generateCard(visitor, problems)}`,
    });
  }
}

const NONE: Notice = { kind: 'warning', text: 'There is no active key any more. Generate one.' };

function again(reply: FastifyReply): FastifyReply {
  return reply.redirect(`${PATH}?done=${ONCE}`, 303);
}

function showSecret(
  reply: FastifyReply,
  visitor: Visitor,
  { key, secret }: NewApiKey,
  address: string,
): FastifyReply {
  return sendPage(reply, {
    title: 'New API key',
    section: 'API',
    visitor,
    content: html`<div class="head"><h1>The new API key</h1></div>
      <section class="card" aria-labelledby="new">
        <h2 id="new">${own(key.name)}</h2>
        <p>
          <strong>Copy it now: it is shown only this once.</strong> Whoever has it can do all that the Partner
          API does.
        </p>
        <div class="secret">${secret}</div>
        <h3>Try it</h3>
        <pre>curl -s ${address}${PARTNER_PREFIX}/account -H 'Authorization: Bearer ${secret}'</pre>
        <div class="actions"><a class="button main-action" href="${PATH}">I have copied it</a></div>
      </section>`,
  });
}

function stateCard(visitor: Visitor, { key, revokedAt }: LatestApiKey): Markup {
  const state = revokedAt === null ? tag('Active', 'good') : tag('Revoked', 'bad');
  return html`<section class="card" aria-labelledby="key">
    <h2 id="key">${own(key.name)} ${state}</h2>
    <dl>
      <dt>Begins with</dt>
      <dd><code>${key.prefix}…</code></dd>
      <dt>Made</dt>
      <dd>${shownTime(key.createdAt)}</dd>
      <dt>Last used</dt>
      <dd>${maybeTime(key.lastUsedAt, 'never')}</dd>
      ${
        revokedAt === null
          ? null
          : html`<dt>Revoked</dt>
              <dd>${shownTime(revokedAt)}</dd>`
      }
    </dl>
    ${revokedAt === null ? keyActions(visitor) : null}
  </section>`;
}

function keyActions(visitor: Visitor): Markup {
  return html`<div class="actions">
    ${askFirst(
      'Regenerate…',
      '',
      'The present key stops working at once, and a new one of the same name is shown.',
      form(visitor, `${PATH}/regenerate`, html`${onceField()}${button('Regenerate the key', 'main-action')}`),
    )}
    ${askFirst(
      'Revoke…',
      'danger',
      'The key stops working at once. All that uses it is refused until there is another one.',
      form(visitor, `${PATH}/revoke`, button('Revoke the key', 'danger')),
    )}
  </div>`;
}

function generateCard(visitor: Visitor, problems: Problems): Markup {
  return html`<section class="card" aria-labelledby="generate">
    <h2 id="generate">Generate an API key</h2>
    ${form(
      visitor,
      `${PATH}/generate`,
      html`${onceField()}
      ${field({ name: 'name', label: 'Name', hint: 'What it is for: “billing”, “monitoring”.', longest: LONGEST_NAME }, problems)}
      ${button('Generate the key', 'main-action')}`,
    )}
  </section>`;
}

/** The page of the API key, which is missing, active or revoked. Its secret is in one response, and never shown again. */
import type { FastifyReply } from 'fastify';
import type { JSX } from 'preact';
import type { ApiApp } from '../../api/framework/route.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import { Actions } from '../../ui/components/button.tsx';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { Secret } from '../../ui/components/own-text.tsx';
import { PARTNER_PREFIX } from '../resources/values.ts';
import type { LatestApiKey, NewApiKey } from '../store/api-keys.ts';
import {
  askFirst,
  button,
  field,
  form,
  FormBody,
  once,
  onceField,
  ownAddress,
  type Problems,
} from './forms.tsx';
import { DoneQuery, type Notice, noticeFor, ONCE, sendPage } from './page.tsx';
import type { ConsoleParts } from './pages.ts';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { maybeTime, own, shownTime, tag } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

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
      const problems = { name: `Enter a name of 1 to ${LONGEST_NAME} characters, such as “billing”.` };
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
      content: (
        <>
          <PageHead title="API key">
            Your software uses it to call the <a href="/docs">Partner API</a>. Only one key is active at a
            time.
          </PageHead>
          {latest === undefined ? null : stateCard(visitor, latest)}
          {latest?.revokedAt === null ? null : generateCard(visitor, problems)}
        </>
      ),
    });
  }
}

const NONE: Notice = { kind: 'warning', text: 'There is no longer an active key. Generate a new one.' };

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
    content: (
      <>
        <PageHead title="Your new API key" />
        <Card title={own(key.name)}>
          <p>
            <strong>Copy it now. It is shown only once.</strong> Anyone who has it can do everything the
            Partner API allows.
          </p>
          <Secret label="Your new API key">{secret}</Secret>
          <h3>Try it</h3>
          <pre>
            curl -s {address}
            {PARTNER_PREFIX}/account -H 'Authorization: Bearer {secret}'
          </pre>
          <Actions>
            <a class="button main-action" href={PATH}>
              I have copied it
            </a>
          </Actions>
        </Card>
      </>
    ),
  });
}

function stateCard(visitor: Visitor, { key, revokedAt }: LatestApiKey): JSX.Element {
  const state = revokedAt === null ? tag('Active', 'good') : tag('Revoked', 'bad');
  return (
    <Card
      title={
        <>
          {own(key.name)} {state}
        </>
      }
    >
      <dl>
        <dt>Begins with</dt>
        <dd>
          <code>{key.prefix}…</code>
        </dd>
        <dt>Created</dt>
        <dd>{shownTime(key.createdAt)}</dd>
        <dt>Last used</dt>
        <dd>{maybeTime(key.lastUsedAt, 'never')}</dd>
        {revokedAt === null ? null : (
          <>
            <dt>Revoked</dt>
            <dd>{shownTime(revokedAt)}</dd>
          </>
        )}
      </dl>
      {revokedAt === null ? keyActions(visitor) : null}
    </Card>
  );
}

function keyActions(visitor: Visitor): JSX.Element {
  return (
    <Actions>
      {askFirst(
        'Regenerate…',
        undefined,
        'The current key stops working at once, and you get a new key with the same name.',
        form(
          visitor,
          `${PATH}/regenerate`,
          <>
            {onceField()}
            {button('Regenerate the key', 'main-action')}
          </>,
        ),
      )}
      {askFirst(
        'Revoke…',
        'danger',
        'The key stops working at once. Programs that use it are refused until they have a new key.',
        form(visitor, `${PATH}/revoke`, button('Revoke the key', 'danger')),
      )}
    </Actions>
  );
}

function generateCard(visitor: Visitor, problems: Problems): JSX.Element {
  return (
    <Card title="Generate an API key">
      {form(
        visitor,
        `${PATH}/generate`,
        <>
          {onceField()}
          {field(
            {
              name: 'name',
              label: 'Name',
              hint: 'What the key is for, such as “billing” or “monitoring”.',
              longest: LONGEST_NAME,
            },
            problems,
          )}
          {button('Generate the key', 'main-action')}
        </>,
      )}
    </Card>
  );
}

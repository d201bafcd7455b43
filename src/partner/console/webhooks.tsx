/**
 * The page that lists all webhooks of the partner, and the form that adds one. The secret of a new webhook is in that
 * response, and never shown again.
 */
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import { EVENT_KINDS, type EventKind } from '../store/events.ts';
import { MOST_ENDPOINTS, type WebhookEndpoint } from '../store/webhook-endpoints.ts';
import { newWebhookSecret } from '../webhooks/secrets.ts';
import { parseTarget } from '../webhooks/target.ts';
import { Actions } from '../../ui/components/button.tsx';
import { Secret } from '../../ui/components/own-text.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Card, Empty, PageHead } from '../../ui/components/card.tsx';
import type { ConsoleParts } from './pages.ts';
import { isLine } from './customer-fields.ts';
import { button, field, form, type Form, FormBody, once, onceField, type Problems } from './forms.tsx';
import type { JSX } from 'preact';
import { DoneQuery, noticeFor, ONCE, sendPage } from './page.tsx';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { own, shownTime, tag } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/webhooks`;
const LONGEST_DESCRIPTION = 500;

interface TypedWebhook {
  readonly url: string;
  readonly description: string;
  readonly events: readonly EventKind[];
}

const NOTHING: TypedWebhook = { url: '', description: '', events: [] };

export function webhooksPage(app: ApiApp, { stores, keys, testTargets }: ConsoleParts): void {
  app.get('/webhooks', { schema: { querystring: DoneQuery }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { items } = await stores.webhooks.list(visitor.partner.id, { limit: MOST_ENDPOINTS });
    return sendPage(reply, {
      title: 'Webhooks',
      section: 'Webhooks',
      visitor,
      notice: noticeFor(request.query.done),
      content: (
        <>
          <PageHead
            title="Webhooks"
            actions={
              <a class="button main-action" href={`${PATH}/new`}>
                Add a webhook
              </a>
            }
          >
            Your software is notified when something happens, with signed messages (Standard Webhooks).
          </PageHead>
          <Card label="Webhooks">{endpointTable(items)}</Card>
        </>
      ),
    });
  });

  app.get('/webhooks/new', { config: PAGE }, (request, reply) =>
    showForm(reply, visitorOf(request), NOTHING, {}),
  );

  app.post('/webhooks/new', { schema: { body: FormBody }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { id: partnerId } = visitor.partner;
    const typed = typedWebhook(request.body);
    const problems = problemsOf(typed);
    if (Object.keys(problems).length > 0) return showForm(reply.code(400), visitor, typed, problems);
    const secret = newWebhookSecret().reveal();
    const endpoint = {
      url: typed.url,
      events: typed.events,
      description: typed.description === '' ? null : typed.description,
      sealSecret: (id: string) => keys.sealing.seal('webhook secret', id, secret),
    };
    try {
      const create = async (): Promise<WebhookEndpoint> =>
        await stores.webhooks.create(partnerId, endpoint, pageActor(request));
      const made = await once(stores, partnerId, request.body, create);
      if (made === undefined) return reply.redirect(`${PATH}?done=${ONCE}`, 303);
      return showWebhookSecret(reply, visitor, made, secret);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'INVALID_REQUEST') throw error;
      return showForm(reply.code(409), visitor, typed, { url: error.message });
    }
  });

  function problemsOf({ url, description }: TypedWebhook): Problems {
    const tooLong = isLine(description, LONGEST_DESCRIPTION)
      ? {}
      : { description: `Use at most ${LONGEST_DESCRIPTION} characters, and no control characters.` };
    try {
      parseTarget(url, testTargets);
      return tooLong;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { ...tooLong, url: error.message };
    }
  }
}

/** Shows a secret, after adding a webhook and after rotating its secret. */
export function showWebhookSecret(
  reply: FastifyReply,
  visitor: Visitor,
  { id, url }: WebhookEndpoint,
  secret: string,
): FastifyReply {
  return sendPage(reply, {
    title: 'Webhook secret',
    section: 'Webhooks',
    visitor,
    content: (
      <>
        <PageHead title="Webhook secret" />
        <Card title={own(url)}>
          <p>
            <strong>Copy it now. It is shown only once.</strong> Your program uses it to check that a message
            comes from this service.
          </p>
          <Secret label="Webhook secret">{secret}</Secret>
          <Actions>
            <a class="button main-action" href={`${PATH}/${id}`}>
              I have copied it
            </a>
          </Actions>
        </Card>
      </>
    ),
  });
}

function typedWebhook(body: Form): TypedWebhook {
  const wanted = body.all('events');
  return {
    url: body.text('url'),
    description: body.text('description'),
    events: EVENT_KINDS.filter((kind) => wanted.includes(kind)),
  };
}

export function webhookTag({ status, failingSince }: WebhookEndpoint): JSX.Element {
  if (status === 'disabled') return tag('Disabled', 'bad');
  return failingSince === null ? tag('Enabled', 'good') : tag('Failing', 'warning');
}

export function shownKinds(events: readonly EventKind[]): JSX.Element {
  if (events.length === 0) return <>All events</>;
  return (
    <>
      {events.map((kind, index) => (
        <>
          {index === 0 ? null : ', '}
          <code>{kind}</code>
        </>
      ))}
    </>
  );
}

function endpointTable(items: readonly WebhookEndpoint[]): JSX.Element {
  if (items.length === 0) {
    return (
      <Empty>
        <p>No webhooks yet. Add one with the https address of your program.</p>
      </Empty>
    );
  }
  return (
    <Table
      label="Webhooks"
      columns={[{ title: 'Address' }, { title: 'Events' }, { title: 'Status' }, { title: 'Added' }]}
    >
      {items.map((endpoint) => (
        <tr>
          <td class="name">
            <a href={`${PATH}/${endpoint.id}`}>{own(endpoint.url)}</a>
            {endpoint.description === null ? null : <small>{own(endpoint.description)}</small>}
          </td>
          <td>
            {endpoint.events.length <= 2 ? shownKinds(endpoint.events) : `${endpoint.events.length} events`}
          </td>
          <td>{webhookTag(endpoint)}</td>
          <td>{shownTime(endpoint.createdAt)}</td>
        </tr>
      ))}
    </Table>
  );
}

function showForm(
  reply: FastifyReply,
  visitor: Visitor,
  typed: TypedWebhook,
  problems: Problems,
): FastifyReply {
  return sendPage(reply, {
    title: 'Add a webhook',
    section: 'Webhooks',
    visitor,
    content: (
      <>
        <a class="back" href={PATH}>
          ← Webhooks
        </a>
        <PageHead title="Add a webhook" />
        <Card>{form(visitor, `${PATH}/new`, webhookForm(typed, problems))}</Card>
      </>
    ),
  });
}

function webhookForm(typed: TypedWebhook, problems: Problems): JSX.Element {
  return (
    <>
      {onceField()}
      {field(
        {
          name: 'url',
          label: 'Address',
          type: 'url',
          value: typed.url,
          longest: 2_048,
          hint: 'An https address with a public name, on port 443.',
        },
        problems,
      )}
      {field(
        {
          name: 'description',
          label: 'Description',
          value: typed.description,
          optional: true,
          longest: LONGEST_DESCRIPTION,
        },
        problems,
      )}
      <fieldset>
        <legend>Events</legend>
        <p class="quiet">If you choose none, all events are sent, including any that are added later.</p>
        <div class="choices">
          {EVENT_KINDS.filter((kind) => kind !== 'webhook.test').map((kind) => (
            <label>
              <input type="checkbox" name="events" value={kind} checked={typed.events.includes(kind)} />
              <code>{kind}</code>
            </label>
          ))}
        </div>
      </fieldset>
      {button('Add the webhook', 'main-action')}
    </>
  );
}

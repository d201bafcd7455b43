/** The page of one webhook: its status, its secret, and its deliveries. */
import { ApiError } from '../../api/wire/api-error.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import { noEndpoint } from '../resources/webhooks.ts';
import { IdParams } from '../resources/values.ts';
import type { Delivery } from '../store/delivery-view.ts';
import type { Page } from '../store/page.ts';
import type { WebhookEndpoint } from '../store/webhook-endpoints.ts';
import { newWebhookSecret } from '../webhooks/secrets.ts';
import { Actions } from '../../ui/components/button.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Card, PageHead } from '../../ui/components/card.tsx';
import type { ConsoleParts } from './pages.ts';
import { askFirst, button, form, FormBody, once, onceField } from './forms.tsx';
import type { JSX } from 'preact';
import { done, noticeFor, olderLink, ONCE, sendPage } from './page.tsx';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { maybeOwn, maybeTime, own, shownTime, tag } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';
import { shownKinds, showWebhookSecret, webhookTag } from './webhooks.tsx';

const AT_ONCE = 25;
/** The default of `POST /webhooks/{id}/rotate-secret`. */
const OVERLAP_MS = 24 * 3_600_000;

const ShowQuery = Type.Object(
  { ...done, before: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);
const DeliveryParams = Type.Object(
  { id: Type.String(), delivery: Type.String() },
  { additionalProperties: false },
);

export function webhookPage(app: ApiApp, { stores, keys, clock }: ConsoleParts): void {
  const { webhooks, deliveries } = stores;

  app.get(
    '/webhooks/:id',
    { schema: { params: IdParams, querystring: ShowQuery }, config: PAGE },
    async (request, reply) => {
      const visitor = visitorOf(request);
      const { id } = request.params;
      const endpoint = found(await webhooks.get(visitor.partner.id, id));
      const { before } = request.query;
      const page = await deliveries.list(visitor.partner.id, id, { limit: AT_ONCE, before });
      return sendPage(reply, {
        title: 'Webhook',
        section: 'Webhooks',
        visitor,
        notice: noticeFor(request.query.done),
        content: (
          <>
            <a class="back" href={`${CONSOLE_PREFIX}/webhooks`}>
              ← Webhooks
            </a>
            <PageHead title={<>Webhook {webhookTag(endpoint)}</>} />
            {factsCard(visitor, endpoint)} {deliveriesCard(visitor, endpoint, page)}
          </>
        ),
      });
    },
  );

  for (const [action, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    app.post(
      `/webhooks/:id/${action}`,
      { schema: { params: IdParams, body: FormBody }, config: PAGE },
      async (request, reply) => {
        const { id } = request.params;
        const partnerId = visitorOf(request).partner.id;
        found(await webhooks.patch(partnerId, id, { status }, pageActor(request)));
        return reply.redirect(`${pathOf(id)}?done=${status}`, 303);
      },
    );
  }

  app.post(
    '/webhooks/:id/rotate-secret',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const visitor = visitorOf(request);
      const { id } = request.params;
      const { id: partnerId } = visitor.partner;
      const secret = newWebhookSecret().reveal();
      const made = await once(stores, partnerId, request.body, async () => {
        const sealed = keys.sealing.seal('webhook secret', id, secret);
        const until = clock.now() + OVERLAP_MS;
        return found(await webhooks.rotateSecret(partnerId, id, sealed, until, pageActor(request)));
      });
      if (made === undefined) return reply.redirect(`${pathOf(id)}?done=${ONCE}`, 303);
      return showWebhookSecret(reply, visitor, made, secret);
    },
  );

  app.post(
    '/webhooks/:id/test',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const { id } = request.params;
      const delivery = await webhooks.test(visitorOf(request).partner.id, id, pageActor(request));
      if (delivery === undefined) throw noEndpoint();
      return reply.redirect(`${pathOf(id)}?done=tested`, 303);
    },
  );

  app.post(
    '/webhooks/:id/delete',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const { id } = request.params;
      if (!(await webhooks.remove(visitorOf(request).partner.id, id, pageActor(request)))) throw noEndpoint();
      return reply.redirect(`${CONSOLE_PREFIX}/webhooks?done=deleted`, 303);
    },
  );

  app.post(
    '/webhooks/:id/deliveries/:delivery/resend',
    { schema: { params: DeliveryParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const { id, delivery } = request.params;
      const { id: partnerId } = visitorOf(request).partner;
      if ((await deliveries.retry(partnerId, id, delivery, pageActor(request))) === undefined)
        throw new ApiError('DELIVERY_NOT_FOUND', 'There is no delivery with that id');
      return reply.redirect(`${pathOf(id)}?done=resent`, 303);
    },
  );
}

function pathOf(endpointId: string): string {
  return `${CONSOLE_PREFIX}/webhooks/${encodeURIComponent(endpointId)}`;
}

function found(endpoint: WebhookEndpoint | undefined): WebhookEndpoint {
  if (endpoint === undefined) throw noEndpoint();
  return endpoint;
}

const REASONS: Readonly<Record<NonNullable<WebhookEndpoint['disabledReason']>, string>> = {
  gone: 'The receiver answered that it no longer exists (410).',
  failing: 'Deliveries failed for days. Fix the receiver, then enable the webhook again.',
  by_partner: 'You disabled it here or through the API.',
};

function factsCard(visitor: Visitor, endpoint: WebhookEndpoint): JSX.Element {
  const { disabledReason: reason, failingSince } = endpoint;
  return (
    <Card label="About this webhook">
      <dl>
        <dt>Address</dt>
        <dd>{own(endpoint.url)}</dd>
        <dt>Description</dt>
        <dd>{maybeOwn(endpoint.description)}</dd>
        <dt>Events</dt>
        <dd>{shownKinds(endpoint.events)}</dd>
        {reason === null ? null : (
          <>
            <dt>Disabled</dt>
            <dd>{REASONS[reason]}</dd>
          </>
        )}
        {failingSince === null ? null : (
          <>
            <dt>Failing since</dt>
            <dd>{shownTime(failingSince)}</dd>
          </>
        )}
        <dt>Added</dt>
        <dd>{shownTime(endpoint.createdAt)}</dd>
        <dt>Webhook ID</dt>
        <dd>
          <code>{endpoint.id}</code>
        </dd>
      </dl>
      {endpointActions(visitor, endpoint)}
    </Card>
  );
}

function endpointActions(visitor: Visitor, { id, status }: WebhookEndpoint): JSX.Element {
  return (
    <Actions>
      {form(visitor, `${pathOf(id)}/test`, button('Send a test message'))}
      {status === 'enabled'
        ? form(visitor, `${pathOf(id)}/disable`, button('Disable'))
        : form(visitor, `${pathOf(id)}/enable`, button('Enable', 'main-action'))}
      {askFirst(
        'Rotate the secret…',
        undefined,
        'You see the new secret only once. For 24 hours, messages are signed with both secrets, so that your program has time to switch.',
        form(
          visitor,
          `${pathOf(id)}/rotate-secret`,
          <>
            {onceField()}
            {button('Rotate the secret', 'main-action')}
          </>,
        ),
      )}
      {askFirst(
        'Delete…',
        'danger',
        'No more messages are sent, and the list of deliveries is deleted, too.',
        form(visitor, `${pathOf(id)}/delete`, button('Delete the webhook', 'danger')),
      )}
    </Actions>
  );
}

function deliveriesCard(
  visitor: Visitor,
  { id }: WebhookEndpoint,
  { items, next }: Page<Delivery>,
): JSX.Element {
  const table = (
    <>
      <Table
        label="Deliveries"
        columns={[
          { title: 'Event' },
          { title: 'Status' },
          { title: 'Attempts', isNumber: true },
          { title: 'Last attempt' },
          { title: 'Next attempt' },
          { title: 'Send again', isUnseen: true },
        ]}
      >
        {items.map((delivery) => deliveryRow(visitor, delivery))}
      </Table>
      {olderLink(pathOf(id), next)}
    </>
  );
  return (
    <Card title="Deliveries">
      {items.length === 0 ? (
        <p class="quiet">Nothing has been sent yet. Send a test message to check that it works.</p>
      ) : (
        table
      )}
    </Card>
  );
}

const STATES = {
  pending: tag('Pending'),
  succeeded: tag('Delivered', 'good'),
  failed: tag('Failed', 'bad'),
} as const;

function deliveryRow(visitor: Visitor, delivery: Delivery): JSX.Element {
  const resend = form(
    visitor,
    `${pathOf(delivery.endpointId)}/deliveries/${delivery.id}/resend`,
    button('Send again', 'plain'),
  );
  return (
    <tr>
      <td>
        <code>{delivery.eventKind}</code>
        <small>{shownTime(delivery.createdAt)}</small>
      </td>
      <td>{STATES[delivery.status]}</td>
      <td class="number">{delivery.attempts}</td>
      <td class="name">
        {maybeTime(delivery.lastAttemptAt, 'none yet')}
        <small>{outcomeOf(delivery)}</small>
      </td>
      <td>{maybeTime(delivery.nextAttemptAt, 'none')}</td>
      <td class="number">{delivery.status === 'pending' ? null : resend}</td>
    </tr>
  );
}

function outcomeOf({ lastError, lastStatus }: Delivery): string | null {
  if (lastError !== null) return lastError;
  return lastStatus === null ? null : `Status ${lastStatus}`;
}

/** The page of one customer: plan and status, devices, and tokens to enroll more devices. */
import type { FastifyReply } from 'fastify';
import type { JSX } from 'preact';
import type { ApiApp } from '../../api/framework/route.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import { holdfastElsewhere } from '../../base/holdfast-command.ts';
import { Type } from '../../base/schema-type.ts';
import { formatBytes } from '../../base/units.ts';
import { Actions, Button } from '../../ui/components/button.tsx';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { Secret } from '../../ui/components/own-text.tsx';
import { Table } from '../../ui/components/table.tsx';
import { noCustomer } from '../resources/customers.ts';
import { IdParams } from '../resources/values.ts';
import type { Customer } from '../store/customer-view.ts';
import type { Device } from '../store/devices.ts';
import type { NewEnrollmentToken } from '../store/enrollment.ts';
import type { Page } from '../store/page.ts';
import type { Plan } from '../store/plans.ts';
import { concernTags, soon, trialWords } from './concerns.tsx';
import { planChoices } from './customer-fields.ts';
import { askFirst, button, form, FormBody, once, onceField, ownAddress, select } from './forms.tsx';
import { done, noticeFor, olderLink, ONCE, sendPage } from './page.tsx';
import type { ConsoleParts } from './pages.ts';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { maybeOwn, maybeTime, own, shownBackup, shownStorage, shownTime, statusTag, tag } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

const AT_ONCE = 50;

const ShowQuery = Type.Object(
  { ...done, before: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);
const DeviceParams = Type.Object(
  { id: Type.String(), device: Type.String() },
  { additionalProperties: false },
);

export function customerPage(app: ApiApp, { stores, publicUrl, clock }: ConsoleParts): void {
  const { customers, devices, enrollment, plans } = stores;

  app.get(
    '/customers/:id',
    { schema: { params: IdParams, querystring: ShowQuery }, config: PAGE },
    async (request, reply) => {
      const visitor = visitorOf(request);
      const { id } = request.params;
      const customer = await customers.get(visitor.partner.id, id);
      if (customer === undefined) throw noCustomer();
      const { before } = request.query;
      const [all, page] = await Promise.all([
        plans.list(),
        devices.list(visitor.partner.id, id, { limit: AT_ONCE, before }),
      ]);
      return sendPage(reply, {
        title: customer.name,
        section: 'Customers',
        visitor,
        notice: noticeFor(request.query.done),
        content: (
          <>
            <a class="back" href={`${CONSOLE_PREFIX}/customers`}>
              ← Customers
            </a>
            <PageHead
              title={
                <>
                  {own(customer.name)} {statusTag(customer.status)} {concernTags(customer, clock.now())}
                </>
              }
              actions={
                <a class="button" href={`${pathOf(id)}/edit`}>
                  Change
                </a>
              }
            />
            {factsCard(customer, all, clock.now())} {devicesCard(visitor, customer, page)}
            {planCard(visitor, customer, all)} {statusCard(visitor, customer)}
            {deleteCard(visitor, customer)}
          </>
        ),
      });
    },
  );

  app.post(
    '/customers/:id/plan',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const { id } = request.params;
      const fields = { planId: request.body.text('plan_id') };
      const partnerId = visitorOf(request).partner.id;
      if ((await customers.patch(partnerId, id, fields, pageActor(request))) === undefined)
        throw noCustomer();
      return reply.redirect(`${pathOf(id)}?done=plan`, 303);
    },
  );

  for (const [action, outcome] of [
    ['suspend', 'suspended'],
    ['resume', 'resumed'],
  ] as const) {
    app.post(
      `/customers/:id/${action}`,
      { schema: { params: IdParams, body: FormBody }, config: PAGE },
      async (request, reply) => {
        const { id } = request.params;
        const partnerId = visitorOf(request).partner.id;
        if ((await customers[action](partnerId, id, pageActor(request))) === undefined) throw noCustomer();
        return reply.redirect(`${pathOf(id)}?done=${outcome}`, 303);
      },
    );
  }

  app.post(
    '/customers/:id/delete',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const partnerId = visitorOf(request).partner.id;
      if (!(await customers.remove(partnerId, request.params.id, pageActor(request)))) throw noCustomer();
      return reply.redirect(`${CONSOLE_PREFIX}/customers?done=customer-deleted`, 303);
    },
  );

  app.post(
    '/customers/:id/enroll',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const visitor = visitorOf(request);
      const partnerId = visitor.partner.id;
      const customer = await customers.get(partnerId, request.params.id);
      if (customer === undefined) throw noCustomer();
      const made = await once(
        stores,
        partnerId,
        request.body,
        async () => await requireToken(partnerId, customer, request.ip),
      );
      if (made === undefined) return reply.redirect(`${pathOf(customer.id)}?done=${ONCE}`, 303);
      return showToken(reply, visitor, customer, made, ownAddress(request, publicUrl));
    },
  );

  app.post(
    '/customers/:id/devices/:device/remove',
    { schema: { params: DeviceParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const { id, device: deviceId } = request.params;
      const partnerId = visitorOf(request).partner.id;
      const device = await devices.get(partnerId, deviceId);
      if (device?.customerId !== id || !(await devices.remove(partnerId, deviceId, pageActor(request))))
        throw new ApiError('DEVICE_NOT_FOUND', 'There is no device with that id');
      return reply.redirect(`${pathOf(id)}?done=device`, 303);
    },
  );

  async function requireToken(partnerId: string, { id }: Customer, ip: string): Promise<NewEnrollmentToken> {
    const made = await enrollment.createToken(partnerId, id, pageActor({ ip }));
    if (made === undefined) throw noCustomer();
    return made;
  }
}

function pathOf(customerId: string): string {
  return `${CONSOLE_PREFIX}/customers/${encodeURIComponent(customerId)}`;
}

function showToken(
  reply: FastifyReply,
  visitor: Visitor,
  customer: Customer,
  { token, expiresAt }: NewEnrollmentToken,
  address: string,
): FastifyReply {
  return sendPage(reply, {
    title: 'Enroll a device',
    section: 'Customers',
    visitor,
    content: (
      <>
        <a class="back" href={pathOf(customer.id)}>
          ← {own(customer.name)}
        </a>
        <PageHead title="Enroll a device" />
        <Card title="Run this on the device">
          <Secret label="Command with the token">{holdfastElsewhere`enroll ${address} ${token}`}</Secret>
          <p class="hint">
            If Holdfast was not installed from a package, replace <code>holdfast</code> with the command that
            starts it: in a clone, <code>npm start --</code>
          </p>
          <p>
            <strong>The token is shown only once.</strong> It can enroll one device, until{' '}
            {shownTime(expiresAt)}.
          </p>
          <Actions>
            <a class="button" href={pathOf(customer.id)}>
              Back to the customer
            </a>
          </Actions>
        </Card>
      </>
    ),
  });
}

function factsCard(customer: Customer, plans: readonly Plan[], now: number): JSX.Element {
  const { storageUsedBytes: used, storageLimitBytes: limit } = customer;
  const high = Math.round(limit * 0.8);
  return (
    <Card label="About this customer">
      <dl>
        <dt>E-mail</dt>
        <dd>{maybeOwn(customer.email)}</dd>
        <dt>Customer number</dt>
        <dd>{maybeOwn(customer.externalId)}</dd>
        <dt>Plan</dt>
        <dd>
          {plans.find(({ id }) => id === customer.planId)?.name ?? customer.planId}
          {trialFacts(customer, now)}
        </dd>
        <dt>Storage</dt>
        <dd>
          {shownStorage(used, limit)} {used > limit ? OVER_LIMIT : null}
          <br />
          <meter
            aria-label="Storage used"
            min="0"
            max={limit}
            high={high}
            value={Math.min(used, limit)}
          ></meter>
        </dd>
        <dt>Last backup</dt>
        <dd>{shownBackup(customer.lastBackup)}</dd>
        <dt>Usage</dt>
        <dd>
          <a href={`${CONSOLE_PREFIX}/usage?customer=${encodeURIComponent(customer.id)}`}>By day</a>
        </dd>
        <dt>Customer ID</dt>
        <dd>
          <code>{customer.id}</code>
        </dd>
        <dt>Since</dt>
        <dd>{shownTime(customer.createdAt)}</dd>
      </dl>
    </Card>
  );
}

function trialFacts(customer: Customer, now: number): JSX.Element | null {
  const { trialEndsAt } = customer;
  const words = trialWords(customer, now);
  if (trialEndsAt === null || words === undefined) return null;
  return (
    <>
      , trial {words}: {shownTime(trialEndsAt)}
      {trialEndsAt < soon(now) ? (
        <p class="hint">
          From a week after the end, the devices back up only what somebody starts by hand, unless their own
          settings say otherwise. With another plan they go on.
        </p>
      ) : null}
    </>
  );
}

const OVER_LIMIT = (
  <p class="hint">
    More than the plan has. Nothing is held back: their backups run as before, and the figure is for you.
  </p>
);

function devicesCard(visitor: Visitor, customer: Customer, { items, next }: Page<Device>): JSX.Element {
  const enroll =
    customer.status === 'suspended' ? (
      <Actions>
        <Button type="button" disabled aria-describedby="enroll-hint">
          Enroll a device
        </Button>
        <p class="hint" id="enroll-hint">
          The customer is suspended. Resume them to enroll a device.
        </p>
      </Actions>
    ) : (
      <Actions>
        {form(
          visitor,
          `${pathOf(customer.id)}/enroll`,
          <>
            {onceField()}
            {button('Enroll a device', 'main-action')}
          </>,
        )}
      </Actions>
    );
  if (items.length === 0) {
    return (
      <Card title="Devices">
        <p class="quiet">No devices yet. To enroll one, you get a token that works once, for 15 minutes.</p>
        {enroll}
      </Card>
    );
  }
  return (
    <Card title="Devices">
      <Table
        label="Devices"
        columns={[
          { title: 'Name' },
          { title: 'Last backup' },
          { title: 'Last seen' },
          { title: 'Storage', isNumber: true },
          { title: 'Remove', isUnseen: true },
        ]}
      >
        {items.map((device) => deviceRow(visitor, device))}
      </Table>
      {olderLink(pathOf(customer.id), next)}
      {enroll}
    </Card>
  );
}

function deviceRow(visitor: Visitor, device: Device): JSX.Element {
  return (
    <tr>
      <td class="name">
        {own(device.name)}
        <small>
          {own(device.platform)}, Holdfast {own(device.agentVersion)}
        </small>
      </td>
      <td>
        {device.missedSince === null ? null : <>{tag('Late', 'bad')}</>}
        {shownBackup(device.lastBackup)}
      </td>
      <td>{maybeTime(device.lastSeenAt, 'never')}</td>
      <td class="number">{formatBytes(device.storageUsedBytes)}</td>
      <td class="number">
        {askFirst(
          'Remove…',
          'plain',
          <>
            You no longer look after {own(device.name)}, and its key stops working. Its backups stay where
            they are.
          </>,
          form(
            visitor,
            `${pathOf(device.customerId)}/devices/${device.id}/remove`,
            button('Remove the device', 'plain danger'),
          ),
        )}
      </td>
    </tr>
  );
}

function planCard(visitor: Visitor, customer: Customer, plans: readonly Plan[]): JSX.Element {
  return (
    <Card title="Plan">
      {form(
        visitor,
        `${pathOf(customer.id)}/plan`,
        <div class="row">
          {select('plan_id', 'Plan', planChoices(plans), customer.planId)}
          {button('Change plan')}
        </div>,
      )}
    </Card>
  );
}

function statusCard(visitor: Visitor, { id, status }: Customer): JSX.Element {
  const [title, text, action] =
    status === 'active'
      ? ([
          'Suspend this customer',
          'Their devices go on backing up and restoring, unless their own settings say otherwise, and show that the account is suspended. No further device can be enrolled.',
          form(visitor, `${pathOf(id)}/suspend`, button('Suspend', 'danger')),
        ] as const)
      : ([
          'Resume this customer',
          'Their devices show that the account is suspended. Once you resume the customer, more devices can be enrolled.',
          form(visitor, `${pathOf(id)}/resume`, button('Resume', 'main-action')),
        ] as const);
  return (
    <Card title={title}>
      <p>{text}</p>
      {action}
    </Card>
  );
}

function deleteCard(visitor: Visitor, { id, name }: Customer): JSX.Element {
  return (
    <Card title="Delete this customer">
      <p>For someone who is no longer your customer.</p>
      {askFirst(
        'Delete…',
        'plain danger',
        <>
          {own(name)} leaves your list, and so do their devices. These keep their backups and go on backing up
          by their own settings, but report nothing to you. Their usage can still be read and billed. Name,
          e-mail and number are removed after 30 days. This cannot be undone.
        </>,
        form(visitor, `${pathOf(id)}/delete`, button('Delete the customer', 'danger')),
      )}
    </Card>
  );
}

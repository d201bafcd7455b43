/** The page that lists all customers of the partner, and the form that adds one. */
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import type { Customer } from '../store/customer-view.ts';
import type { Page } from '../store/page.ts';
import type { Plan } from '../store/plans.ts';
import { Table } from '../../ui/components/table.tsx';
import { Card, Empty, PageHead } from '../../ui/components/card.tsx';
import type { ConsoleParts } from './pages.ts';
import {
  customerProblems,
  LONGEST_EMAIL,
  LONGEST_EXTERNAL_ID,
  LONGEST_NAME,
  newCustomer,
  planChoices,
  typedCustomer,
  type TypedCustomer,
} from './customer-fields.ts';
import { button, field, form, FormBody, once, onceField, type Problems, select } from './forms.tsx';
import type { JSX } from 'preact';
import { done, noticeFor, olderLink, ONCE, sendPage } from './page.tsx';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { own, shownBackup, shownCount, shownStorage, statusTag } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/customers`;
const AT_ONCE = 50;

const ListQuery = Type.Object(
  { ...done, before: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);

const NOTHING: TypedCustomer = { name: '', email: '', externalId: '', planId: '' };

export function customersPage(app: ApiApp, { stores }: ConsoleParts): void {
  app.get('/customers', { schema: { querystring: ListQuery }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { before } = request.query;
    const [page, plans, count] = await Promise.all([
      stores.customers.list(visitor.partner.id, { limit: AT_ONCE, before }),
      stores.plans.list(),
      stores.customers.count(visitor.partner.id),
    ]);
    return sendPage(reply, {
      title: 'Customers',
      section: 'Customers',
      visitor,
      notice: noticeFor(request.query.done),
      content: (
        <>
          <PageHead
            title="Customers"
            actions={
              <a class="button main-action" href={`${PATH}/new`}>
                Add a customer
              </a>
            }
          >
            {howMany(count)}
          </PageHead>
          <Card label="Customers">{customerTable(page, plans)}</Card>
        </>
      ),
    });
  });

  app.get('/customers/new', { config: PAGE }, async (request, reply) =>
    showForm(reply, visitorOf(request), NOTHING, {}),
  );

  app.post('/customers/new', { schema: { body: FormBody }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { id } = visitor.partner;
    const typed = typedCustomer(request.body);
    const problems = customerProblems(typed, await stores.plans.list());
    if (Object.keys(problems).length > 0) return await showForm(reply.code(400), visitor, typed, problems);
    try {
      const made = await once(
        stores,
        id,
        request.body,
        async () => await stores.customers.create(id, newCustomer(typed), pageActor(request)),
      );
      return reply.redirect(
        made === undefined ? `${PATH}?done=${ONCE}` : `${PATH}/${made.id}?done=added`,
        303,
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'CUSTOMER_EXISTS') throw error;
      const taken = {
        external_id: 'Another customer already has this number. Choose a different one, or leave this empty.',
      };
      return await showForm(reply.code(409), visitor, typed, taken);
    }
  });

  async function showForm(
    reply: FastifyReply,
    visitor: Visitor,
    typed: TypedCustomer,
    problems: Problems,
  ): Promise<FastifyReply> {
    const plans = await stores.plans.list();
    return sendPage(reply, {
      title: 'Add a customer',
      section: 'Customers',
      visitor,
      content: (
        <>
          <a class="back" href={PATH}>
            ← Customers
          </a>
          <PageHead title="Add a customer" />
          <Card>{form(visitor, `${PATH}/new`, customerForm(typed, plans, problems))}</Card>
        </>
      ),
    });
  }
}

function howMany(count: number): string {
  if (count === 0) return 'No customers yet.';
  return count === 1 ? '1 customer.' : `${shownCount(count)} customers, newest first.`;
}

function customerForm(typed: TypedCustomer, plans: readonly Plan[], problems: Problems): JSX.Element {
  return (
    <>
      {onceField()}
      {field({ name: 'name', label: 'Name', value: typed.name, longest: LONGEST_NAME }, problems)}
      {field(
        {
          name: 'email',
          label: 'E-mail',
          type: 'email',
          value: typed.email,
          optional: true,
          longest: LONGEST_EMAIL,
        },
        problems,
      )}
      {field(
        {
          name: 'external_id',
          label: 'Customer number',
          value: typed.externalId,
          optional: true,
          longest: LONGEST_EXTERNAL_ID,
          hint: 'Your own number or name for this customer. In the API, this is external_id.',
        },
        problems,
      )}
      {select('plan_id', 'Plan', planChoices(plans), typed.planId, problems)}
      {button('Add the customer', 'main-action')}
    </>
  );
}

function customerTable({ items, next }: Page<Customer>, plans: readonly Plan[]): JSX.Element {
  if (items.length === 0)
    return (
      <Empty>
        <p>Add a customer, then enroll their first device.</p>
      </Empty>
    );
  return (
    <>
      <Table
        label="Customers"
        columns={[
          { title: 'Name' },
          { title: 'Plan' },
          { title: 'Status' },
          { title: 'Devices', isNumber: true },
          { title: 'Storage', isNumber: true },
          { title: 'Last backup' },
        ]}
      >
        {items.map((customer) => (
          <tr>
            <td class="name">
              <a href={`${PATH}/${customer.id}`}>{own(customer.name)}</a>
              {customer.externalId === null ? null : <small>{own(customer.externalId)}</small>}
            </td>
            <td>{plans.find(({ id }) => id === customer.planId)?.name ?? customer.planId}</td>
            <td>{statusTag(customer.status)}</td>
            <td class="number">{customer.devicesCount}</td>
            <td class="number">{shownStorage(customer.storageUsedBytes, customer.storageLimitBytes)}</td>
            <td>{shownBackup(customer.lastBackup)}</td>
          </tr>
        ))}
      </Table>
      {olderLink(PATH, next)}
    </>
  );
}

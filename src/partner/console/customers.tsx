/** The page that lists all customers of the partner, and the form that adds one. */
import type { FastifyReply } from 'fastify';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import type { Customer } from '../store/customer-view.ts';
import type { Page } from '../store/page.ts';
import type { Plan } from '../store/plans.ts';
import { TextField } from '../../ui/components/field.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Card, Empty, PageHead } from '../../ui/components/card.tsx';
import type { ConsoleParts } from './pages.ts';
import { concernTags, soon } from './concerns.tsx';
import {
  customerProblems,
  newCustomer,
  planChoices,
  typedCustomer,
  type TypedCustomer,
} from './customer-fields.ts';
import { identityFields, takenProblem } from './customer-form.tsx';
import { button, form, FormBody, hidden, once, onceField, type Problems, select } from './forms.tsx';
import type { JSX } from 'preact';
import { done, noticeFor, olderLink, ONCE, sendPage } from './page.tsx';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { own, shownBackup, shownCount, shownStorage, statusTag } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/customers`;
const AT_ONCE = 50;

/** What the list can be narrowed to. */
const SHOWN = ['attention', 'trials'] as const;

const ListQuery = Type.Object(
  {
    ...done,
    before: Type.Optional(Type.String({ maxLength: 64 })),
    q: Type.Optional(Type.String({ maxLength: 255 })),
    show: Type.Optional(Type.Enum([...SHOWN, ''])),
  },
  { additionalProperties: false },
);

const NOTHING: TypedCustomer = { name: '', email: '', externalId: '', planId: '' };

export function customersPage(app: ApiApp, { stores, clock }: ConsoleParts): void {
  app.get('/customers', { schema: { querystring: ListQuery }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { before, show } = request.query;
    const search = request.query.q?.trim() ?? '';
    const { id } = visitor.partner;
    const now = clock.now();
    const narrowed = {
      attention: { attentionBefore: soon(now) },
      trials: { trialEndsBefore: soon(now) },
    } as const;
    const filter = {
      ...(show === undefined || show === '' ? {} : narrowed[show]),
      ...(search === '' ? {} : { search }),
    };
    const [page, plans, count, attention, trials] = await Promise.all([
      stores.customers.list(id, { limit: AT_ONCE, before, ...filter }),
      stores.plans.list(),
      stores.customers.count(id),
      stores.customers.count(id, narrowed.attention),
      stores.customers.count(id, narrowed.trials),
    ]);
    const view = { search, show: show ?? '' };
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
          {count === 0 ? null : finder(view, { attention, trials })}
          <Card label="Customers">{customerTable(page, plans, { view, now })}</Card>
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
      return await showForm(reply.code(409), visitor, typed, takenProblem(error));
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
      {identityFields(typed, problems)}
      {select('plan_id', 'Plan', planChoices(plans), typed.planId, problems)}
      {button('Add the customer', 'main-action')}
    </>
  );
}

/** What of the list is shown. */
interface View {
  /** Empty for all customers. */
  readonly search: string;
  readonly show: (typeof SHOWN)[number] | '';
}

function addressOf({ search, show }: View): string {
  const query = new URLSearchParams({
    ...(show === '' ? {} : { show }),
    ...(search === '' ? {} : { q: search }),
  }).toString();
  return query === '' ? PATH : `${PATH}?${query}`;
}

/** The search field, and links to the customers that need attention, with their number. */
function finder(view: View, counts: Readonly<Record<(typeof SHOWN)[number], number>>): JSX.Element {
  const choices = [
    ['', 'All'],
    ['attention', `Needs attention: ${shownCount(counts.attention)}`],
    ['trials', `Trials at their end: ${shownCount(counts.trials)}`],
  ] as const;
  return (
    <Card label="Find a customer">
      <div class="switch" role="group" aria-label="Which customers">
        {choices.map(([show, label]) => (
          <a href={addressOf({ ...view, show })} aria-current={show === view.show ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </div>
      <form method="get" action={PATH} role="search">
        {hidden('show', view.show)}
        <div class="row">
          <TextField
            name="q"
            type="search"
            label="Name, e-mail or customer number"
            value={view.search}
            maxLength={255}
          />
          {button('Search')}
        </div>
      </form>
    </Card>
  );
}

function customerTable(
  { items, next }: Page<Customer>,
  plans: readonly Plan[],
  { view, now }: { readonly view: View; readonly now: number },
): JSX.Element {
  if (items.length === 0)
    return (
      <Empty>
        <p>
          {addressOf(view) === PATH
            ? 'Add a customer, then enroll their first device.'
            : 'No customer is shown with this choice.'}
        </p>
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
            <td>
              {statusTag(customer.status)} {concernTags(customer, now)}
            </td>
            <td class="number">{customer.devicesCount}</td>
            <td class="number">{shownStorage(customer.storageUsedBytes, customer.storageLimitBytes)}</td>
            <td>{shownBackup(customer.lastBackup)}</td>
          </tr>
        ))}
      </Table>
      {olderLink(addressOf(view), next)}
    </>
  );
}
